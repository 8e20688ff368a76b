import Glibc
import LinuxHAL
import TestSupport
import Testing

@Suite("Text in the log")
struct LogTextTests {
  @Test(
    "RES-8: invisible, control and bidirectional characters are written as their numbers",
    arguments: [
      ("a\u{2028}b", #"a\u{2028}b"#), ("a\u{2029}b", #"a\u{2029}b"#),
      ("a\u{202E}b", #"a\u{202E}b"#),
      ("a\u{2066}b\u{2069}", #"a\u{2066}b\u{2069}"#), ("a\u{200B}b", #"a\u{200B}b"#),
      ("a\u{FEFF}b", #"a\u{FEFF}b"#), ("a\u{AD}b", #"a\u{AD}b"#), ("a\u{85}b", #"a\u{85}b"#),
      ("a\u{1B}[31mb", #"a\u{1B}[31mb"#), ("a\u{7F}b", #"a\u{7F}b"#), ("a\tb", #"a\u{9}b"#),
      ("a\u{0}b", #"a\u{0}b"#), ("a\u{E0041}b", #"a\u{E0041}b"#), ("a\u{3164}b", #"a\u{3164}b"#),
      ("a\u{E000}b", #"a\u{E000}b"#), ("a\nb", #"a\u{A}b"#),
    ])
  func invisible(_ text: String, _ cleaned: String) {
    #expect(LogText.cleaned(text) == cleaned)
  }

  @Test(
    "readable text is not changed",
    arguments: ["trail-log", "Wanderkarte für Ägypten", "位置", "позиция", "موقع", "🧭 n° 5", ""])
  func readable(_ text: String) { #expect(LogText.cleaned(text) == text) }

  @Test("RES-8: no client text can forge a log line of the service")
  func forged() {
    let folder = TestFolder()
    let descriptor = unsafe open(folder.path + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let log = SystemLog(descriptor, journalStream: nil)
    for end in ["\n", "\r", "\r\n", "\u{2028}", "\u{2029}", "\u{85}", "\u{B}", "\u{C}"] {
      log.write(.notice, "'x\(end)serving' of user 5 asks to use location")
    }
    let bytes = folder.read("log")
    let lines = bytes.split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
    #expect(lines.count == 9, "only a line feed separates lines: \(lines)")
    #expect(lines.allSatisfy { $0.hasPrefix("'x") || $0.hasPrefix("    ") }, "\(lines)")
    #expect(
      lines.allSatisfy { line in
        line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
      })
  }
}
