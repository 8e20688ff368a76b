import BoardProfiles
import GNSSProtocols

/// The identity that a receiver reports in response to a query.
public struct ReceiverIdentity: Equatable, Sendable {
  /// The maker whose commands a receiver accepts.
  public enum Maker: String, Sendable {
    /// UBX.
    case ublox = "u-blox"
    /// `$PMTK`: MT3333, MT3339.
    case mediatek = "MediaTek"
    /// `$PAIR`: AG3335, AG3352.
    case airoha = "Airoha"
    /// `$PCAS`: AT6558 and compatible chips.
    case casic = "CASIC"
  }

  /// The maker whose commands the receiver accepts.
  public var maker: Maker
  /// Name of the module or chip, `MAX-M10S`.
  public var model: String?
  /// Hardware version, `000A0000`.
  public var hardware: String?
  /// Software version, `ROM SPG 5.10 (7b202e)`.
  public var firmware: String
  /// Version of the UBX protocol × 100.
  public var protocolVersion_e2: Int?

  /// Creates an identity.
  public init(
    _ maker: Maker, model: String? = nil, hardware: String? = nil, firmware: String,
    protocolVersion_e2: Int? = nil
  ) {
    self.maker = maker
    self.model = model
    self.hardware = hardware
    self.firmware = firmware
    self.protocolVersion_e2 = protocolVersion_e2
  }

  /// Creates an identity from UBX-MON-VER.
  init(_ version: UBXVersion) {
    self.init(.ublox, firmware: "")
    firmware = ReceiverIdentity.text(version.software.span)
    hardware = ReceiverIdentity.text(version.hardware.span)
    let module = ReceiverIdentity.text(version.module.span)
    model = module.isEmpty ? nil : module
    protocolVersion_e2 = version.protocolVersion_e2.map(Int.init)
  }

  /// Creates an identity from the response to one of ``queries``: a sentence without `$` and checksum; nil for any
  /// other sentence.
  init?(sentence: String) {
    let fields = sentence.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    func field(_ index: Int) -> String? {
      fields.count > index && !fields[index].isEmpty ? fields[index] : nil
    }
    switch fields[0] {
    case "PMTK705":
      guard let release = field(1) else { return nil }
      self.init(.mediatek, model: field(3), firmware: release)
    case "PAIR020":
      guard let release = field(1) else { return nil }
      let model = release.prefix { $0 != "_" }
      self.init(.airoha, model: model.isEmpty ? nil : String(model), firmware: release)
    case "GPTXT", "GNTXT", "BDTXT":
      guard let text = field(4), text.hasPrefix("SW=") else { return nil }
      let firmware = [String(text.dropFirst(3)), field(5) ?? ""].filter { !$0.isEmpty }
      self.init(.casic, firmware: firmware.joined(separator: " "))
    default: return nil
    }
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    var text: [UInt8] = []
    for i in bytes.indices {
      guard bytes[i] != 0 else { break }
      // Replace control characters, which a terminal would interpret.
      text.append((0x20...0x7E).contains(bytes[i]) ? bytes[i] : UInt8(ascii: "?"))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Generation of a u-blox receiver, from the first half of its hardware version.
  private var generation: String? {
    switch hardware?.prefix(4) {
    case "000A": "M10"
    case "0019": "F9 or M9"
    case "0008": "M8"
    case "0007": "7"
    case "0004": "6"
    default: nil
    }
  }

  /// Family with a driver for its commands; `nmea` if none exists.
  public var family: BoardProfile.Receiver.Family {
    let word =
      switch maker {
      case .ublox: generation == "M10" ? "ublox-m10" : generation == "M8" ? "ublox-m8" : "nmea"
      case .mediatek: "mtk"
      case .airoha: "airoha"
      case .casic: "casic"
      }
    return BoardProfile.Receiver.Family(rawValue: word) ?? .nmea
  }

  /// Display name: `u-blox MAX-M10S`.
  public var name: String {
    if let model { return "\(maker.rawValue) \(model)" }
    return maker.rawValue + (maker == .ublox ? generation.map { " \($0)" } ?? "" : "")
  }

  /// All properties in one line.
  public var description: String {
    var text = "\(name), firmware \(firmware)"
    if let hardware { text += ", hardware \(hardware)" }
    if let version = protocolVersion_e2 {
      let cents = version % 100
      text += ", protocol \(version / 100).\(cents < 10 ? "0" : "")\(cents)"
    }
    return text
  }

  /// Queries for a receiver of unknown family; none of them changes a setting.
  static let queries: [UInt8] = {
    var buffer = FrameBuffer()
    buffer.appendPoll(.monVER)
    var bytes: [UInt8] = []
    for i in 0..<buffer.count { bytes.append(buffer[i]) }
    for sentence in ["PMTK605", "PAIR020", "PCAS06,0"] {
      let sum = sentence.utf8.reduce(0) { $0 ^ $1 }
      let digits = String(sum, radix: 16, uppercase: true)
      bytes += Array("$\(sentence)*\(digits.count < 2 ? "0" : "")\(digits)\r\n".utf8)
    }
    return bytes
  }()
}
