import LocationTypes
import Testing

@Suite("FNV-1a")
struct FNV1aTests {
  @Test(
    "hashes equal the published 64-bit values",
    arguments: [
      ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C),
      ("foobar", 0x8594_4171_F739_67E8),
    ] as [(String, UInt64)])
  func published(_ text: String, _ value: UInt64) {
    var hash = FNV1a()
    for byte in text.utf8 { hash.add(byte) }
    #expect(hash.value == value)
  }

  @Test("a number is hashed as its eight bytes, lowest first")
  func numbers() {
    var one = FNV1a()
    one.add(0x0807_0605_0403_0201 as UInt64)
    var other = FNV1a()
    for byte: UInt8 in 1...8 { other.add(byte) }
    #expect(one == other)
  }
}
