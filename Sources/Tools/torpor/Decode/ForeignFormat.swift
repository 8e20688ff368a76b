import GNSSProtocols

/// Formats that are neither NMEA nor UBX, recognised so that the error message can suggest how to convert the input.
enum ForeignFormat: CaseIterable {
  case gzip
  case bzip2
  case xz
  case zstandard
  case zip
  /// UTF-16 with a byte order mark.
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

  /// Number of bytes inspected at the start of the input.
  static let prefixLength = 4_096

  /// Recognises a format by the first bytes of the input, or by the frames that `GNSSDecoder` found; nil if unknown.
  ///
  /// - Parameters:
  ///   - bytes: First bytes of the input, up to ``prefixLength``.
  ///   - formats: Binary frame formats that `GNSSDecoder` detected and skipped.
  init?(_ bytes: [UInt8], _ formats: FrameFormats) {
    let found =
      ForeignFormat.fileFormat(bytes) ?? ForeignFormat.textFormat(bytes)
      ?? ForeignFormat.frameFormat(formats)
      ?? (ForeignFormat.isNovAtel(bytes) ? .novAtel : nil)
    guard let found else { return nil }
    self = found
  }

  /// Recognises a file format by its signature.
  private static func fileFormat(_ bytes: [UInt8]) -> ForeignFormat? {
    let signatures: [([UInt8], ForeignFormat)] = [
      ([0x1F, 0x8B], .gzip), (Array("BZh".utf8), .bzip2), ([0xFD] + Array("7zXZ".utf8), .xz),
      ([0x28, 0xB5, 0x2F, 0xFD], .zstandard), (Array("PK".utf8) + [3, 4], .zip),
      ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16), (Array("<?xml".utf8), .xml),
      (Array("<gpx".utf8), .xml), (Array("{\"class\":".utf8), .gpsdJSON),
    ]
    return signatures.first { bytes.starts(with: $0.0) }?.1
  }

  /// Recognises sentences in UTF-16 without a byte order mark, or in lower case, by the first `$` that starts a
  /// sentence.
  private static func textFormat(_ bytes: [UInt8]) -> ForeignFormat? {
    for start in bytes.indices where bytes[start] == UInt8(ascii: "$") {
      let word = bytes[(start + 1)...].prefix(6)
      if word.count > 2, word.first == 0, isLowerCaseLetter(word[start + 2] | 0x20) {
        return start.isMultiple(of: 2) ? .utf16LittleEndian : .utf16BigEndian
      }
      guard word.count == 6, word.last == UInt8(ascii: ","),
        word.dropLast().allSatisfy({ isLowerCaseLetter($0 | 0x20) })
      else { continue }
      return word.dropLast().allSatisfy(isLowerCaseLetter) ? .lowerCase : nil
    }
    return nil
  }

  /// Whether `byte` is a lower-case letter.
  private static func isLowerCaseLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }

  private static func frameFormat(_ formats: FrameFormats) -> ForeignFormat? {
    if formats.contains(.sirf) { return .sirf }
    if formats.contains(.skyTraq) { return .skyTraq }
    if formats.contains(.casic) { return .casic }
    if formats.contains(.allystar) { return .allystar }
    return formats.contains(.rtcm3) ? .rtcm3 : nil
  }

  /// Whether the input has NovAtel OEM binary headers, long or short (two, or one at the start), or begins with an
  /// ASCII log.
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

  /// The second half of an error message: the format, and how to convert the input.
  ///
  /// - Parameters:
  ///   - file: Path of the input, or nil for a pipe.
  ///   - pipeCommand: Command line that reads the input from a pipe.
  func advice(_ file: String?, pipeCommand: String) -> String {
    func through(_ command: String, _ what: String) -> String {
      let source = file.map { "`\(command) < \($0.shellQuoted) | \(pipeCommand)`" }
      return "is \(what): " + (source ?? "put `\(command)` before `\(pipeCommand)`")
    }
    return switch self {
    case .gzip: through("zcat", "compressed with gzip")
    case .bzip2: through("bzcat", "compressed with bzip2")
    case .xz: through("xzcat", "compressed with xz")
    case .zstandard: through("zstdcat", "compressed with zstd")
    case .zip: "is a ZIP archive: unpack it, and give the path of a file from it"
    case .utf16: through("iconv -f UTF-16 -t UTF-8", "text in UTF-16")
    case .utf16LittleEndian: through("iconv -f UTF-16LE -t UTF-8", "text in UTF-16")
    case .utf16BigEndian: through("iconv -f UTF-16BE -t UTF-8", "text in UTF-16")
    case .lowerCase:
      through("tr a-z A-Z", "NMEA in lower case, which no receiver sends")
        + "; a checksum that was computed from the lower-case letters is wrong afterwards"
    case .novAtel:
      "is the output of a NovAtel OEM receiver, whose logs are not supported: enable NMEA "
        + "sentences with `log gprmc ontime 1` and `log gpgga ontime 1`"
    case .rtcm3:
      "contains RTCM 3, which has corrections and observations but no position: "
        + "record the receiver's own output, NMEA or UBX"
    case .sirf: ForeignFormat.binaryAdvice("SiRF", "gpsctl -n or $PSRF100")
    case .skyTraq: ForeignFormat.binaryAdvice("SkyTraq", "message type 09")
    case .casic: ForeignFormat.binaryAdvice("CASIC", "$PCAS03")
    case .allystar: ForeignFormat.binaryAdvice("Allystar", "CFG-MSG")
    case .gpsdJSON: "is gpsd's JSON: `gpspipe -R` prints the output of the receiver"
    case .xml: "is XML: `torpor simulate --track` reads GPX"
    }
  }

  private static func binaryAdvice(_ maker: String, _ command: String) -> String {
    "is \(maker) binary, which is not supported: switch the receiver to NMEA (\(command))"
  }
}
