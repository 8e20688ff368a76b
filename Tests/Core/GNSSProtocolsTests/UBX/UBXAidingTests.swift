import GNSSProtocols
import LocationTypes
import Testing

// Frames published by others, compared with Torpor's.

private func hex(_ text: String) -> [UInt8] {
  text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
}

private func bytes(_ write: (inout FrameBuffer) -> Void) -> [UInt8] {
  var buffer = FrameBuffer()
  write(&buffer)
  return (0..<buffer.count).map { buffer[$0] }
}

private func messages(_ bytes: [UInt8]) -> [GNSSMessage] {
  var decoder = GNSSDecoder()
  var offset = 0
  var messages: [GNSSMessage] = []
  while let message = decoder.next(bytes.span, &offset) { messages.append(message) }
  return messages
}

private func hostCommands(_ bytes: [UInt8]) -> [UBXCommand] {
  var decoder = UBXCommandDecoder()
  var offset = 0
  var commands: [UBXCommand] = []
  while let command = decoder.next(bytes.span, &offset) { commands.append(command) }
  return commands
}

@Suite("UBX-MGA: navigation database entries, saved and restored") struct UBXAidingTests {
  @Test("The UBX-MGA-DBD poll equals the one that public clients send")
  func poll() {
    #expect(bytes { $0.appendPoll(.mgaDBD) } == hex("B5 62 13 80 00 00 93 CC"))
  }

  @Test("The CFG-NAVX5 that enables acknowledgements equals one that an M8 accepted")
  func acknowledgements() {
    // Electric Imp's UBloxAssistNow, in a test run with a protocol 15 receiver: its ACK followed.
    let published = hex(
      "b5 62 06 23 28 00 00 00 00 04 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 "
        + "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 56 24")
    #expect(bytes { $0.appendAidingAcknowledgement(true) } == published)
    #expect(hostCommands(published) == [.aidingAcknowledgement(true)])
    #expect(
      hostCommands(bytes { $0.appendAidingAcknowledgement(false) }) == [
        .aidingAcknowledgement(false)
      ])
    var other = published
    other[9] = 5
    let payload = Array(other[6..<46])
    #expect(
      hostCommands(bytes { $0.appendUBX(.cfgNAVX5, payload: payload.span) }) == [
        .unknown(.cfgNAVX5)
      ])
  }

  @Test("UBX-MGA-ACK-DATA0 is decoded as a receiver sent it, and encoded the same")
  func answer() {
    // The same run: the answer to a UBX-MGA-ANO.
    let published = hex("b5 62 13 60 08 00 01 00 00 20 00 00 01 00 9d fe")
    let answer = UBXAidingAnswer(to: UBXIdentity(0x13, 0x20), payloadStart: 0x0001_0000)
    #expect(messages(published) == [.aidingAnswer(answer)])
    #expect(bytes { $0.append(answer) } == published)
    let refusal = UBXAidingAnswer(
      to: .mgaDBD, isAccepted: false, reason: 1, payloadStart: 0x0403_0201)
    #expect(refusal.subject == .mgaDBD)
    #expect(messages(bytes { $0.append(refusal) }) == [.aidingAnswer(refusal)])
    let newer: [UInt8] = [1, 1, 0, 0x80, 0, 0, 0, 0]
    #expect(messages(bytes { $0.appendUBX(.mgaACK, payload: newer.span) }) == [.malformed])
  }

  @Test("UBX-MGA-INI-TIME_UTC has the layout of the frame of u-blox's own service")
  func time() throws {
    // The first message of AssistNow Online, in the tests of a public UBX library: 5 September 2020,
    // 06:40:48.217, 18 leap seconds, accurate to 10 s.
    let published = hex(
      "B5 62 13 40 18 00 10 00 00 12 E4 07 09 05 06 28 30 00 40 28 EF 0C 0A 00 00 00 00 00 00 00 51 AC"
    )
    let utc = UTCTime(microseconds: 1_599_288_048_217_000)
    #expect(hostCommands(published) == [.aidingTime(utc)])
    let encoded = bytes { $0.appendAidingTime(utc) }
    // Torpor's frame has no leap seconds and an accuracy of 2 s.
    var expected = Array(published.dropLast(2))
    expected[9] = 0x80
    expected[22] = 2
    #expect(Array(encoded.dropLast(2)) == expected)
    #expect(hostCommands(encoded) == [.aidingTime(utc)])
    let initialPosition: [UInt8] = [0x01] + [UInt8](repeating: 0, count: 19)
    #expect(
      hostCommands(bytes { $0.appendUBX(.mgaINI, payload: initialPosition.span) })
        == [.unknown(.mgaINI)])
    let noTime: [UInt8] = [0x10] + [UInt8](repeating: 0, count: 23)
    #expect(
      hostCommands(bytes { $0.appendUBX(.mgaINI, payload: noTime.span) }) == [.malformed(.mgaINI)])
  }

  @Test("PWR-8: an entry's bytes are passed on unchanged", arguments: 0...180)
  func entries(_ length: Int) {
    let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let frame = bytes { $0.appendUBX(.mgaDBD, payload: payload.span) }
    let isEntry = (12...164).contains(length)
    // After a sentence, before another frame, in chunks of any length up to the whole.
    let stream = Array("$GPTXT,01*2F\r\n".utf8) + frame + hex("B5 62 05 01 02 00 06 23 31 5A")
    for chunk in [1, 7, 20, 100, stream.count] {
      var decoder = GNSSDecoder()
      var found: [[UInt8]] = []
      var start = 0
      while start < stream.count {
        let end = min(stream.count, start + chunk)
        var offset = 0
        let part = stream.span.extracting(start..<end)
        while let message = decoder.next(part, &offset) {
          guard case .aidingEntry(let entry) = message else { continue }
          let copy = decoder.frame(of: entry)
          found.append(copy.span.indices.map { copy.span[$0] })
        }
        start = end
      }
      #expect(found == (isEntry ? [frame] : []), "\(chunk)")
    }
  }
}
