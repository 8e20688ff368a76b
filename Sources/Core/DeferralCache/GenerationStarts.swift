import LocationTypes

/// At which sequence number the last generations began, oldest first; both numbers only rise.
///
/// After a power cut a generation may begin below what the one before had named, because those fixes
/// were lost. Only with this record can a name of then be told from a name of now by number alone.
struct GenerationStarts {
  static let capacity = 16

  private var generations: InlineArray<16, UInt32> = InlineArray(repeating: 0)
  private var sequences: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  private(set) var count = 0
  /// The oldest generation that the first entry stands for: its own, unless others became one with it.
  private var oldest: UInt32 = 0

  /// Creates an empty record.
  init() {}

  /// The newest generation in the record; 0 if there is none.
  var newest: UInt32 { count == 0 ? 0 : generations[count - 1] }

  /// Notes that `generation`, newer than all in the record, begins at `sequence`. O(``capacity``).
  ///
  /// What began at or above `sequence` says nothing more and goes. When there is no room the two
  /// oldest become one that reaches as low: names between the two may then be delivered again, but
  /// none is passed over.
  mutating func begin(_ generation: UInt32, at sequence: UInt64) {
    precondition(generation > newest, "generations rise")
    while count > 0, sequences[count - 1] >= sequence { count -= 1 }
    if count == GenerationStarts.capacity {
      generations[0] = generations[1]
      for i in 1..<count - 1 {
        generations[i] = generations[i + 1]
        sequences[i] = sequences[i + 1]
      }
      count -= 1
    }
    if count == 0 { oldest = generation }
    generations[count] = generation
    sequences[count] = sequence
    count += 1
  }

  /// The first sequence number whose fix is younger than `name`. O(``capacity``).
  func end(of name: FixName) -> UInt64 {
    let next = name.sequence == .max ? name.sequence : name.sequence + 1
    for i in 0..<count where generations[i] > name.generation { return min(next, sequences[i]) }
    return next
  }

  /// Whether no younger generation took over the number of `name`, as far as the record tells.
  ///
  /// Generations that became one do not take over from each other: which of them began where is
  /// forgotten, and what had been taken over then was cleared long ago. O(``capacity``).
  func isCurrent(_ name: FixName) -> Bool {
    for i in 0..<count where (i == 0 ? oldest : generations[i]) > name.generation {
      return name.sequence < sequences[i]
    }
    return true
  }
}

extension GenerationStarts {
  /// Reads a record; nil if it is none.
  init?(_ image: RingImage, at offset: Int) {
    let length = image.half(at: offset)
    guard length <= UInt32(GenerationStarts.capacity) else { return nil }
    let n = Int(length)
    for i in 0..<n {
      let sequence = image.word(at: offset + 4 + 16 * i)
      let generation = image.half(at: offset + 12 + 16 * i)
      guard generation > newest, count == 0 || sequence > sequences[count - 1] else { return nil }
      begin(generation, at: sequence)
    }
    let first = image.half(at: offset + 16)
    if n == 0 || first == 0 { return }
    guard first < generations[0] else { return nil }
    oldest = first
  }

  /// Writes the record: its length, then 16 bytes for each generation.
  func write(_ image: RingImage, at offset: Int) {
    image.setHalf(UInt32(count), at: offset)
    for i in 0..<count {
      image.setWord(sequences[i], at: offset + 4 + 16 * i)
      image.setHalf(generations[i], at: offset + 12 + 16 * i)
    }
    if count > 0, oldest < generations[0] { image.setHalf(oldest, at: offset + 16) }
  }
}
