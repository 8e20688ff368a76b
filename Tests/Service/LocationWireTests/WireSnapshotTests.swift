import LocationTypes
import TestSupport
import Testing
import TextFormats

@testable import LocationWire

@Suite("Snapshots of the socket's interface")
struct WireSnapshotTests {
  private func text(_ json: borrowing JSONOutput) -> String {
    String(decoding: json.bytes, as: UTF8.self).replacing("\0", with: "\n")
  }

  @Test("the declarations of the interface file equal the snapshot") func interface() {
    let lines = LocationInterface.text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("#") }
      .map { $0.replacing(#/ *#.*$/#, with: "") }
    let text = lines.joined(separator: "\n")
    #expect(differenceFromSnapshot("interface.varlink", text) == nil)
  }

  @Test("the bytes of all calls, replies, notices and errors equal the snapshot") func frames() {
    var json = JSONOutput()
    for call in Samples.calls { CallEncoder.encode(call, to: &json) }
    for (_, reply) in Samples.replies { ReplyEncoder.encode(reply, to: &json) }
    for notice in Samples.notices {
      ReplyEncoder.encode(.notice(notice), continues: true, to: &json)
    }
    for error in Samples.errors { ReplyEncoder.encode(.error(error), to: &json) }
    #expect(differenceFromSnapshot("socket.jsonl", text(json)) == nil)
  }

  @Test("the bytes of a record of a drain equal the snapshot") func records() {
    var output = JSONOutput()
    for stored in [Samples.full, Samples.longest] { FixRecord.append(stored, to: &output) }
    let digits = output.bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    let lines = stride(from: 0, to: digits.count, by: FixRecord.size).map {
      digits[$0..<min($0 + FixRecord.size, digits.count)].joined()
    }
    #expect(differenceFromSnapshot("records.hex", lines.joined(separator: "\n") + "\n") == nil)
  }
}
