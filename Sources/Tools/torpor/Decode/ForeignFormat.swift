import GNSSProtocols

/// What input is that is neither NMEA nor UBX: recognised so that the error can say what to do.
enum ForeignFormat: CaseIterable {
  case gzip
  case bzip2
  case xz
  case zstandard
  case zip
  /// With a byte order mark.
  case utf16
  case utf16LittleEndian
  case utf16BigEndian
  case lowerCase
  case novAtel
  case rtcm3
  case sirf
  case skyTraq
  case casic
  case allystar
  case gpsdJSON
  case xml

  /// So many first bytes are looked at.
  static let beginning = 4_096

  /// What begins with these bytes, or consists of frames of these formats; nil where it is not known.
  init?(_ bytes: [UInt8], _ formats: FrameFormats) {
    let found =
      ForeignFormat.file(bytes) ?? ForeignFormat.text(bytes) ?? ForeignFormat.frames(formats)
      ?? (ForeignFormat.isNovAtel(bytes) ? .novAtel : nil)
    guard let found else { return nil }
    self = found
  }

  /// Kinds of files that their first bytes name.
  private static func file(_ bytes: [UInt8]) -> ForeignFormat? {
    let starts: [([UInt8], ForeignFormat)] = [
      ([0x1F, 0x8B], .gzip), (Array("BZh".utf8), .bzip2), ([0xFD] + Array("7zXZ".utf8), .xz),
      ([0x28, 0xB5, 0x2F, 0xFD], .zstandard), (Array("PK".utf8) + [3, 4], .zip),
      ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16), (Array("<?xml".utf8), .xml),
      (Array("<gpx".utf8), .xml), (Array("{\"class\":".utf8), .gpsdJSON),
    ]
    return starts.first { bytes.starts(with: $0.0) }?.1
  }

  /// Text in another writing, by its first sentence: two bytes a letter, or lower case.
  ///
  /// Before it there may be other text, in which `$` is no sentence's.
  private static func text(_ bytes: [UInt8]) -> ForeignFormat? {
    for start in bytes.indices where bytes[start] == UInt8(ascii: "$") {
      let word = bytes[(start + 1)...].prefix(6)
      if word.count > 2, word.first == 0, isLetter(word[start + 2] | 0x20) {
        return start.isMultiple(of: 2) ? .utf16LittleEndian : .utf16BigEndian
      }
      guard word.count == 6, word.last == UInt8(ascii: ","),
        word.dropLast().allSatisfy({ isLetter($0 | 0x20) })
      else { continue }
      return word.dropLast().allSatisfy(isLetter) ? .lowerCase : nil
    }
    return nil
  }

  /// Whether it is one of a to z.
  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }

  private static func frames(_ formats: FrameFormats) -> ForeignFormat? {
    if formats.contains(.sirf) { return .sirf }
    if formats.contains(.skyTraq) { return .skyTraq }
    if formats.contains(.casic) { return .casic }
    if formats.contains(.allystar) { return .allystar }
    return formats.contains(.rtcm3) ? .rtcm3 : nil
  }

  /// Whether two OEM headers are there, long or short, or a log in ASCII begins it.
  private static func isNovAtel(_ bytes: [UInt8]) -> Bool {
    if bytes.first == UInt8(ascii: "#") || bytes.first == UInt8(ascii: "%") {
      let name = bytes.dropFirst().prefix { $0 != UInt8(ascii: ",") }
      return name.count >= 4 && name.count <= 32 && name.last == UInt8(ascii: "A")
        && name.allSatisfy {
          (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
    }
    guard bytes.count > 2 else { return false }
    let headers = (0..<bytes.count - 2).filter {
      bytes[$0] == 0xAA && bytes[$0 + 1] == 0x44 && (0x11...0x13).contains(bytes[$0 + 2])
    }
    return headers.count > 1 || headers.first == 0
  }

  /// What it is, and what to do about it.
  ///
  /// - Parameters:
  ///   - file: Its path, or nil for a pipe.
  ///   - reader: The command that reads the input from a pipe.
  func advice(_ file: String?, reader: String) -> String {
    func through(_ command: String, _ what: String) -> String {
      let source = file.map { "`\(command) < \(ForeignFormat.quoted($0)) | \(reader)`" }
      return "is \(what): " + (source ?? "put `\(command)` before `\(reader)`")
    }
    return switch self {
    case .gzip: through("zcat", "compressed with gzip")
    case .bzip2: through("bzcat", "compressed with bzip2")
    case .xz: through("xzcat", "compressed with xz")
    case .zstandard: through("zstdcat", "compressed with zstd")
    case .zip: "is a ZIP archive: unpack it, and give one of the files in it"
    case .utf16: through("iconv -f UTF-16 -t UTF-8", "text in UTF-16")
    case .utf16LittleEndian: through("iconv -f UTF-16LE -t UTF-8", "text in UTF-16")
    case .utf16BigEndian: through("iconv -f UTF-16BE -t UTF-8", "text in UTF-16")
    case .lowerCase:
      through("tr a-z A-Z", "NMEA in lower case, and no receiver's")
        + "; where a checksum was made of the lower-case letters, it is wrong then"
    case .novAtel:
      "is of a NovAtel OEM receiver, whose own logs are not read: let it log sentences, "
        + "with `log gprmc ontime 1` and `log gpgga ontime 1`"
    case .rtcm3:
      "holds RTCM 3, corrections and observations that tell no position: "
        + "record what the receiver makes of them, NMEA or UBX"
    case .sirf: ForeignFormat.binary("SiRF", "gpsctl -n or $PSRF100")
    case .skyTraq: ForeignFormat.binary("SkyTraq", "its message type 09")
    case .casic: ForeignFormat.binary("CASIC", "$PCAS03")
    case .allystar: ForeignFormat.binary("Allystar", "CFG-MSG")
    case .gpsdJSON: "is gpsd's JSON: `gpspipe -R` gives what the receiver sent"
    case .xml: "is XML: `torpor simulate --track` reads GPX"
    }
  }

  /// A path as a shell takes it, whatever is in it.
  static func quoted(_ path: String) -> String {
    "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }

  private static func binary(_ maker: String, _ command: String) -> String {
    "is \(maker) binary, which is not read: switch the receiver to NMEA (\(command))"
  }
}
