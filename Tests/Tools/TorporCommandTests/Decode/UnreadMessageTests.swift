import GNSSProtocols
import TestSupport
import Testing

@testable import torpor

@Suite("Messages that the decoder does not use", .tags(.process))
struct UnreadMessageTests {
  /// A sentence with its checksum.
  static func sentence(_ body: String) -> String {
    let parity = body.utf8.reduce(0) { $0 ^ $1 }
    let digits = String(parity, radix: 16, uppercase: true)
    return "$\(body)*\(digits.count == 1 ? "0" : "")\(digits)\r\n"
  }

  /// What `decode` reports for one fix and each body repeated `count` times.
  static func summary(_ bodies: [(body: String, count: Int)], frames: [UInt8] = []) -> String {
    var text = sentence("GPGLL,4807.038,N,01131.000,E,120000,A")
    for (body, count) in bodies {
      for _ in 0..<count { text += sentence(body) }
    }
    let result = Command.run(["decode", "-"], input: Array(text.utf8) + frames)
    #expect(result.status == 0)
    return result.errors
  }

  @Test("known but unused messages and unknown messages are counted separately, by type")
  func kinds() {
    let summary = Self.summary(
      [
        ("GNTXT,01,01,02,hello", 3), ("GPGRS,1,2", 2), ("IIHDT,1.0,T", 1), ("PMTK012,001", 2),
        ("PMTK705,AXN_2.31", 1), ("PUBX,03,11", 1), ("GPABC,1", 2), ("PXYZQ,1", 1), ("gphdt,1", 1),
      ],
      // UBX-RXM-SFRBX and an unknown class, both without payload.
      frames: [0xB5, 0x62, 0x02, 0x13, 0, 0, 0x15, 0x41, 0xB5, 0x62, 0x66, 0x66, 0, 0, 0xCC, 0xCA])
    #expect(
      summary.contains(
        "11 not used (PMTK 3, TXT 3, GRS 2, HDT 1, PUBX 1, UBX-RXM-13 1), "
          + "5 not understood (GPABC 2, PXYZQ 1, UBX 66 66 1)"), "\(summary)")
  }

  @Test("no line is written without such messages, and the list of types is limited")
  func bounds() {
    #expect(!Self.summary([("GPGSA,A,3", 1)]).contains("not "))
    let many = Self.summary((0..<10).map { ("GPAA\($0),1", 10 - $0) })
    #expect(
      many.contains("55 not understood (GPAA0 10, ") && many.contains("GPAA5 5, 4 more kinds)"))
    #expect(!many.contains("not used"))
    var unread = UnreadMessages()
    for number in 0..<1_000 { unread.add(.sentence(UInt64(number) << 8)) }
    #expect(unread.summaries == ["1,000 not understood"])
  }
}
