import GNSSProtocols
import Testing

@testable import BoardDoctor

@Suite("Receiver identity")
struct IdentityTests {
  @Test(
    "identity responses of several manufacturers are parsed",
    arguments: [
      ("PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0", "MediaTek PA6H", "AXN_2.31_3339_13101700"),
      (
        "PAIR020,AG3335A_V2.3.0.AG3335A_20200803,S,N,9ec279c,2008031428", "Airoha AG3335A",
        "AG3335A_V2.3.0.AG3335A_20200803"
      ),
      ("GPTXT,01,01,02,SW=URANUS5,V5.3.0.0", "CASIC", "URANUS5 V5.3.0.0"),
      ("PSTMVER,BINIMG_4.5.5_ARM", "STMicroelectronics Teseo", "BINIMG_4.5.5_ARM"),
    ])
  func sentences(_ sentence: String, _ name: String, _ firmware: String) throws {
    let identity = try #require(ReceiverIdentity(sentence: sentence))
    #expect(identity.name == name && identity.firmware == firmware)
    // The same in a stream, after other sentences and in chunks.
    let sum = sentence.utf8.reduce(0) { $0 ^ $1 }
    let digits = String(Int(sum) + 256, radix: 16, uppercase: true).suffix(2)
    let stream = Array("noise$GPTXT,01,01,01,ANTENNA OPEN*25\r\n$\(sentence)*\(digits)\r\n".utf8)
    for size in [1, 7, stream.count] {
      var probe = BaudProbe()
      var remainder = stream[...]
      while !remainder.isEmpty {
        probe.decode(Array(remainder.prefix(size)))
        remainder = remainder.dropFirst(size)
      }
      #expect(probe.identity == identity && probe.isRecognised)
    }
    var wrong = BaudProbe()
    wrong.decode(Array("$\(sentence)*00\r\n".utf8))
    #expect(wrong.identity == nil)
  }

  @Test(
    "other sentences are not identity responses",
    arguments: ["", "PMTK705", "GPRMC,,V", "GPTXT,01,01,02,u-blox"])
  func others(_ sentence: String) { #expect(ReceiverIdentity(sentence: sentence) == nil) }

  @Test(
    "a u-blox generation is derived from its hardware version",
    arguments: [
      ("000A0000", "M10", "ublox-m10"), ("00080000", "M8", "ublox-m8"),
      ("00190000", "F9 or M9", "nmea"), ("00070000", "7", "nmea"),
    ])
  func ublox(_ hardware: String, _ generation: String, _ family: String) {
    var identity = ReceiverIdentity(ublox: nil, hardware: hardware, firmware: "EXT")
    #expect(identity.name == "u-blox \(generation)")
    // A generation without a driver is used as plain NMEA.
    #expect("\(identity.family.name)" == family)
    identity.model = "MAX-1"
    identity.protocolVersion_e2 = 3_405
    #expect(
      identity.description == "u-blox MAX-1, firmware EXT, hardware \(hardware), protocol 34.05")
  }

  @Test("UBX-MON-VER is parsed from a stream, and control characters in it are replaced")
  func version() throws {
    var buffer = FrameBuffer()
    buffer.appendVersion(
      UBXVersion(software: "ROM \u{1B}[2J", hardware: "000A0000", module: "MAX-M10S"))
    var probe = BaudProbe()
    probe.decode((0..<buffer.count).map { buffer[$0] })
    #expect(probe.isRecognised && probe.identity?.model == "MAX-M10S")
    #expect(probe.identity?.firmware == "ROM ?[2J")
    #expect(probe.identity?.family == .ubloxM10)
  }

  @Test("the identity queries have correct framing and checksums")
  func queries() {
    let text = String(decoding: ReceiverIdentity.queries.dropFirst(8), as: UTF8.self)
    #expect(ReceiverIdentity.queries.prefix(8) == [0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34])
    #expect(text == "$PMTK605*31\r\n$PAIR020*38\r\n$PCAS06,0*1B\r\n$PSTMGETSWVER,6*13\r\n")
  }

  @Test("the last message decides whether there is a fix")
  func fix() {
    var probe = BaudProbe()
    #expect(probe.hasFix == nil && !probe.isRecognised)
    probe.decode(Array("$GPGGA,,,,,,0,00,99.99,,,,,,*48\r\n".utf8))
    #expect(probe.hasFix == false && !probe.isRecognised, "one alone may be chance")
    probe.decode(
      Array("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n".utf8))
    #expect(probe.hasFix == true && probe.satellites == 8 && probe.isRecognised)
  }
}
