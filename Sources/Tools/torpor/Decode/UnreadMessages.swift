import GNSSProtocols

/// Counts valid messages that ``RecordingDecoder`` does not use, by name, in bounded memory.
struct UnreadMessages {
  /// Maximum number of distinct names; messages with further names are counted together.
  static let maximumNames = 256
  /// Maximum number of kinds listed in a summary.
  static let maximumListed = 6

  private var counts: [MessageName: Int] = [:]
  /// Number of messages whose names exceeded ``maximumNames``.
  private var others = 0

  /// Counts a message.
  mutating func add(_ name: MessageName) {
    if counts[name] != nil || counts.count < UnreadMessages.maximumNames {
      counts[name, default: 0] += 1
    } else {
      others += 1
    }
  }

  /// Summaries of the known and of the unknown messages, each with its most frequent kinds; none for a count of 0.
  var summaries: [String] {
    var known: [String: Int] = [:], unknown: [String: Int] = [:]
    for (name, count) in counts {
      if let kind = UnreadMessages.knownKind(of: name) {
        known[kind, default: 0] += count
      } else {
        unknown[UnreadMessages.plainName(of: name), default: 0] += count
      }
    }
    if others > 0 { unknown["", default: 0] += others }
    return [summary(known, "not used"), summary(unknown, "not understood")].compactMap { $0 }
  }

  /// A count with its kinds, the most frequent first; nil for a count of 0. Messages without a valid name are counted
  /// but not listed.
  private func summary(_ kinds: [String: Int], _ what: String) -> String? {
    let count = kinds.values.reduce(0, +)
    guard count > 0 else { return nil }
    let named = kinds.filter { !$0.key.isEmpty }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var parts = named.prefix(UnreadMessages.maximumListed).map {
      "\($0.key) \(HumanFormat.count($0.value))"
    }
    if named.count > parts.count { parts.append("\(named.count - parts.count) more kinds") }
    let list = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    return "\(HumanFormat.count(count)) \(what)\(list)"
  }

  /// The kind of a known message: a sentence of NMEA 0183 or of a known manufacturer, or a frame of a class that u-blox
  /// documents. Nil for all other messages.
  static func knownKind(of name: MessageName) -> String? {
    switch name {
    case .frame(let identity):
      return classes[identity.messageClass].map { "UBX-\($0)-\(hexadecimal(identity.messageID))" }
    case .sentence:
      let address = plainName(of: name)
      if address.hasPrefix("P") {
        let maker = String(address.prefix(4))
        return manufacturers.contains(maker) ? maker : nil
      }
      let formatter = String(address.suffix(3))
      return address.utf8.count == 5 && formatters.contains(formatter) ? formatter : nil
    }
  }

  /// The name as in the message; empty if it has characters other than capital letters and digits.
  static func plainName(of name: MessageName) -> String {
    switch name {
    case .frame(let identity):
      return "UBX \(hexadecimal(identity.messageClass)) \(hexadecimal(identity.messageID))"
    case .sentence(let word):
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }.prefix { $0 != 0 }
      let isPlain = bytes.allSatisfy { byte in
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
      return isPlain ? String(decoding: bytes, as: UTF8.self) : ""
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.utf8.count == 1 ? "0" + digits : digits
  }

  /// Sentence formatters of NMEA 0183 without data of an epoch, or with data that a decoded sentence has in better
  /// quality.
  private static let formatters: Set<String> = [
    "AAM", "ABM", "ACK", "ALM", "ALR", "APA", "APB", "BBM", "BEC", "BOD", "BWC", "BWR", "BWW",
    "CUR", "DBK", "DBS", "DBT", "DCN", "DPT", "DSC", "DSE", "DTM", "FSI", "GBQ", "GDA", "GFA",
    "GLC", "GLQ", "GNQ", "GPQ", "GAQ", "GRS", "GTD", "HBT", "HDG", "HDM", "HDT", "HSC", "HTC",
    "HTD", "LCD", "LR1", "LR2", "LR3", "LRF", "LRI", "MDA", "MLA", "MSK", "MSS", "MTW", "MWD",
    "MWV", "OSD", "RLM", "RMA", "RMB", "ROT", "RPM", "RSA", "RSD", "RTE", "SFI", "SSD", "STN",
    "THS", "TLB", "TLL", "TTM", "TUT", "TXT", "VBW", "VDM", "VDO", "VDR", "VHW", "VLW", "VPW",
    "VSD", "VWR", "VWT", "WCV", "WNC", "WPL", "XDR", "XTE", "XTR", "ZDL", "ZFO", "ZTG",
  ]

  /// Address prefixes of proprietary sentences of receiver manufacturers: u-blox, Garmin, MediaTek, Airoha, SiRF,
  /// Quectel, SkyTraq, CASIC, Magellan, ST.
  private static let manufacturers: Set<String> = [
    "PUBX", "PGRM", "PMTK", "PAIR", "PSRF", "PQTM", "PSTI", "PCAS", "PMGN", "PSTM",
  ]

  /// Message classes in u-blox's interface descriptions.
  private static let classes: [UInt8: String] = [
    0x01: "NAV", 0x02: "RXM", 0x04: "INF", 0x05: "ACK", 0x06: "CFG", 0x09: "UPD", 0x0A: "MON",
    0x0B: "AID", 0x0D: "TIM", 0x10: "ESF", 0x13: "MGA", 0x21: "LOG", 0x27: "SEC", 0x28: "HNR",
  ]
}
