import BoardProfiles
import GNSSProtocols

/// The identity that a receiver reports in response to a query.
public struct ReceiverIdentity: Equatable, Sendable {
  /// Family with a driver for its commands; `passive` if none exists.
  public let family: ReceiverFamily
  /// The maker, `u-blox`.
  public let maker: String
  /// Name of the module or chip, `MAX-M10S`.
  public var model: String?
  /// Hardware version, `000A0000`.
  public var hardware: String?
  /// Software version, `ROM SPG 5.10 (7b202e)`.
  public var firmware: String
  /// Version of the UBX protocol × 100.
  public var protocolVersion_e2: Int?

  /// Creates an identity that was reported in a family's proprietary sentence.
  private init(_ family: ReceiverFamily, model: String?, firmware: String) {
    self.family = family
    maker = "\(family.descriptor.maker)"
    self.model = model
    self.firmware = firmware
  }

  /// Creates an identity from UBX-MON-VER.
  init(_ version: UBXVersion) {
    let module = ReceiverIdentity.text(version.module.span)
    self.init(
      ublox: module.isEmpty ? nil : module, hardware: ReceiverIdentity.text(version.hardware.span),
      firmware: ReceiverIdentity.text(version.software.span))
    protocolVersion_e2 = version.protocolVersion_e2.map(Int.init)
  }

  /// Creates the identity of a u-blox receiver; its generation determines the family.
  init(ublox model: String?, hardware: String, firmware: String) {
    let generation = ReceiverIdentity.generation(hardware: hardware)
    family =
      ReceiverFamily.allCases.first { $0.isUBlox && "\($0.descriptor.generation)" == generation }
      ?? .passive
    maker = "\(ReceiverFamily.ubloxM10.descriptor.maker)"
    self.model = model
    self.hardware = hardware
    self.firmware = firmware
  }

  /// Creates an identity from the response to one of ``queries``: a sentence without `$` and checksum; nil for any
  /// other sentence.
  init?(sentence: String) {
    let fields = sentence.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    for family in ReceiverFamily.allCases {
      guard let query = family.descriptor.identity, query.isAnswered(by: fields[0]) else {
        continue
      }
      let last = min(query.lastReleaseField, fields.count - 1)
      guard query.releaseField <= last, fields[query.releaseField].hasPrefix("\(query.prefix)")
      else { continue }
      var release = fields[query.releaseField...last]
      release[query.releaseField].removeFirst(query.prefix.utf8CodeUnitCount)
      let firmware = release.filter { !$0.isEmpty }.joined(separator: " ")
      guard !firmware.isEmpty else { return nil }
      let model: String? =
        switch query.model {
        case .none: nil
        case .field(let number): fields.count > number ? fields[number] : nil
        case .release(let end): String(firmware.prefix { $0 != Character(Unicode.Scalar(end)) })
        }
      self.init(family, model: model.flatMap { $0.isEmpty ? nil : $0 }, firmware: firmware)
      return
    }
    return nil
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
  private static func generation(hardware: String) -> String? {
    switch hardware.prefix(4) {
    case "000A": "M10"
    case "0019": "F9 or M9"
    case "0008": "M8"
    case "0007": "7"
    case "0004": "6"
    default: nil
    }
  }

  /// Display name: `u-blox MAX-M10S`.
  public var name: String {
    let kind = model ?? hardware.flatMap { ReceiverIdentity.generation(hardware: $0) }
    return kind.map { "\(maker) \($0)" } ?? maker
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
    for query in ReceiverFamily.allCases.compactMap(\.descriptor.identity?.query) {
      buffer.append(sentence: "\(query)".utf8)
    }
    return (0..<buffer.count).map { buffer[$0] }
  }()
}

extension IdentityQuery {
  /// Whether a sentence with this address answers the query.
  fileprivate func isAnswered(by address: String) -> Bool {
    let expected = "\(answer)"
    return address == expected
      || (expected.count == 3 && address.count == 5 && address.hasSuffix(expected))
  }
}
