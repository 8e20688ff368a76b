import Foundation
import TestSupport
import Testing
import TextFormats

@testable import LocationWire

@Suite("Examples in Docs/Reference/socket.md") struct PageTests {
  @Test("every example survives decoding and encoding")
  func examples() throws {
    let page = URL(filePath: "\(packageRoot)/Docs/Reference/socket.md")
    var call: WireCall?
    var count = 0
    for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
      let text = String(line.dropFirst(2))
      var json = JSONOutput()
      if line.hasPrefix("→ ") {
        let read = try CallDecoder.decode(Array(text.utf8))
        call = read.call
        CallEncoder.encode(read.call, oneway: read.mode == .oneway, to: &json)
      } else if line.hasPrefix("← ") {
        let read = try ReplyDecoder.decode(Array(text.utf8), to: try #require(call))
        if case .error(.other) = read.reply { Issue.record("\(text) is not known") }
        ReplyEncoder.encode(read.reply, continues: read.continues, to: &json)
      } else {
        continue
      }
      count += 1
      #expect(String(decoding: json.bytes.dropLast(), as: UTF8.self) == text)
    }
    #expect(count > 20)
  }
}
