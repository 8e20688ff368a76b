import GNSSProtocols
import Testing

@testable import BoardDoctor

@Suite("What a receiver says it is")
struct IdentityTests {
  @Test(
    "answers of four makers",
    arguments: [
      ("PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0", "MediaTek PA6H", "AXN_2.31_3339_13101700"),
      (
        "PAIR020,AG3335A_V2.3.0.AG3335A_20200803,S,N,9ec279c,2008031428", "Airoha AG3335A",
        "AG3335A_V2.3.0.AG3335A_20200803"
      ),
      ("GPTXT,01,01,02,SW=URANUS5,V5.3.0.0", "CASIC", "URANUS5 V5.3.0.0"),
    ])
  func sentences(_ sentence: String, _ name: String, _ firmware: String) throws {
    let identity = try #require(ReceiverIdentity(sentence: sentence))
    #expect(identity.name == name && identity.firmware == firmware)
    // The same out of a stream, behind others and in pieces.
    let sum = sentence.utf8.reduce(0) { $0 ^ $1 }
    let digits = String(Int(sum) + 256, radix: 16, uppercase: true).suffix(2)
    let stream = Array("noise$GPTXT,01,01,01,ANTENNA OPEN*25\r\n$\(sentence)*\(digits)\r\n".utf8)
    for size in [1, 7, stream.count] {
      var ear = BaudProbe()
      var rest = stream[...]
      while !rest.isEmpty {
        ear.decode(Array(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      #expect(ear.identity == identity && ear.isRecognised)
    }
    var wrong = BaudProbe()
    wrong.decode(Array("$\(sentence)*00\r\n".utf8))
    #expect(wrong.identity == nil)
  }

  @Test(
    "sentences that are no such answer",
    arguments: ["", "PMTK705", "GPRMC,,V", "GPTXT,01,01,02,u-blox"])
  func others(_ sentence: String) { #expect(ReceiverIdentity(sentence: sentence) == nil) }

  @Test(
    "a u-blox by its hardware",
    arguments: [
      ("000A0000", "M10", "ublox-m10"), ("00080000", "M8", "ublox-m8"),
      ("00190000", "F9 or M9", "nmea"), ("00070000", "7", "nmea"),
    ])
  func ublox(_ hardware: String, _ generation: String, _ family: String) {
    var identity = ReceiverIdentity(.ublox, hardware: hardware, firmware: "EXT")
    #expect(identity.name == "u-blox \(generation)")
    // A family that has no driver is listened to.
    #expect([family, "nmea"].contains(identity.family.rawValue))
    identity.model = "MAX-1"
    identity.protocolVersion_e2 = 3_405
    #expect(
      identity.description == "u-blox MAX-1, firmware EXT, hardware \(hardware), protocol 34.05")
  }

  @Test("UBX-MON-VER is taken out of a stream, and a terminal is not commanded by it")
  func version() throws {
    var buffer = FrameBuffer()
    buffer.appendVersion(
      UBXVersion(software: "ROM \u{1B}[2J", hardware: "000A0000", module: "MAX-M10S"))
    var ear = BaudProbe()
    ear.decode((0..<buffer.count).map { buffer[$0] })
    #expect(ear.isRecognised && ear.identity?.model == "MAX-M10S")
    #expect(ear.identity?.firmware == "ROM ?[2J")
    #expect(ear.identity?.family == .ubloxM10)
  }

  @Test("the questions are right in framing and checksum")
  func questions() {
    let text = String(decoding: ReceiverIdentity.queries.dropFirst(8), as: UTF8.self)
    #expect(ReceiverIdentity.queries.prefix(8) == [0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34])
    #expect(text == "$PMTK605*31\r\n$PAIR020*38\r\n$PCAS06,0*1B\r\n")
  }

  @Test("whether there is a fix is what the last message says")
  func fix() {
    var ear = BaudProbe()
    #expect(ear.hasFix == nil && !ear.isRecognised)
    ear.decode(Array("$GPGGA,,,,,,0,00,99.99,,,,,,*48\r\n".utf8))
    #expect(ear.hasFix == false && !ear.isRecognised, "one alone may be chance")
    ear.decode(
      Array("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n".utf8))
    #expect(ear.hasFix == true && ear.satellites == 8 && ear.isRecognised)
  }
}
