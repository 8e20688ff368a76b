import TestSupport
import Testing
import TextFormats

@Suite("The JSON output buffer") struct OutputTests {
  /// The same number computed by way of text: digits with a point before the last `scale`, without
  /// trailing zeros.
  private static func written(_ value: Int64, _ scale: Int) -> String {
    var digits = Array(String(value.magnitude))
    while digits.count <= scale { digits.insert("0", at: 0) }
    var decimals = Array(digits.suffix(scale))
    let whole = digits.dropLast(scale)
    while decimals.last == "0" { decimals.removeLast() }
    return (value < 0 ? "-" : "") + String(whole) + (decimals.isEmpty ? "" : "." + String(decimals))
  }

  private static func member(_ value: Int64, scale: Int) -> String {
    var json = JSONOutput()
    json.frame { $0.member("v", value, scale: scale) }
    return String(decoding: json.bytes.dropLast(), as: UTF8.self)
  }

  @Test("numbers of every scale, including the extremes, keep all digits")
  func scales() {
    var random = SplitMix64(seed: 0x0115)
    for scale in 0...18 {
      var values: [Int64] = [0, 1, -1, 9, 10, -10, 100, 999, .max, .min, .min + 1, 1_000_000_000]
      for bits in 1...63 {
        values.append(Int64.random(in: .min ... .max, using: &random) >> Int64(63 - bits))
      }
      for value in values {
        #expect(Self.member(value, scale: scale) == #"{"v":\#(Self.written(value, scale))}"#)
      }
    }
  }

  @Test("the buffer grows as needed and drops bytes that were sent")
  func growsAndShrinks() {
    var random = SplitMix64(seed: 2)
    var json = JSONOutput()
    var expected: [UInt8] = []
    let nothing: [UInt8] = []
    // An empty span adds no bytes.
    unsafe json.text.add(bytes: nothing.span.bytes)
    #expect(json.text.isEmpty && json.bytes.isEmpty && json.text.capacity == 0)
    for turn in 0..<400 {
      let text = String(repeating: "x", count: Int.random(in: 0...300, using: &random))
      json.frame { json in
        json.member("turn", Int64(turn))
        json.member("text", text)
      }
      expected += Array(#"{"turn":\#(turn),"text":"\#(text)"}"#.utf8) + [0]
      if turn.isMultiple(of: 3) {
        let sent = Int.random(in: 0...expected.count, using: &random)
        json.text.removeFirst(sent)
        expected.removeFirst(sent)
      }
      #expect(json.text.count == expected.count && json.text.isEmpty == expected.isEmpty)
      #expect(json.bytes == expected)
    }
    json.removeAll()
    #expect(json.text.isEmpty && json.bytes == [])
    json.frame { $0.member("a", true) }
    #expect(json.bytes == Array(#"{"a":true}"#.utf8) + [0])
  }

  @Test("the buffer grows for one member longer than all previous content")
  func longMember() {
    var json = JSONOutput()
    let text = String(repeating: "y", count: 100_000)
    json.frame { $0.member("t", text) }
    #expect(json.bytes == Array(#"{"t":"\#(text)"}"#.utf8) + [0])
    #expect(json.text.capacity <= 2 * json.text.count, "the capacity is at most twice the content")
  }

  @Test("a large buffer is released when empty, a usual one is retained")
  func givesBack() {
    var json = JSONOutput()
    json.frame { $0.member("t", String(repeating: "y", count: TextBuffer.defaultRetainedCapacity)) }
    json.text.removeFirst(json.text.count - 1)
    #expect(json.text.capacity > TextBuffer.defaultRetainedCapacity, "a byte is left")
    json.text.removeFirst(1)
    #expect(json.text.capacity == 0)
    json.frame { $0.member("a", true) }
    let retained = json.text.capacity
    json.text.removeFirst(json.text.count)
    #expect(json.text.capacity == retained && retained > 0)
  }

  @Test("truncation restores the content before a frame")
  func truncates() {
    var json = JSONOutput()
    json.frame { $0.member("a", Int64(1)) }
    let before = json.bytes
    json.frame { $0.member("b", Int64(2)) }
    json.text.truncate(to: before.count)
    #expect(json.bytes == before)
  }

  @Test("removing more bytes than were written is a programming error")
  func tooMuch() async {
    await #expect(processExitsWith: .failure) {
      var json = JSONOutput()
      json.frame { $0.member("a", true) }
      json.text.removeFirst(json.text.count + 1)
    }
  }
}
