import LocationTypes

/// First sequence number of each of the latest 16 generations, oldest first. Generations and sequence numbers
/// strictly increase.
///
/// After a power cut, a generation may start at a sequence number that the previous generation already
/// assigned to a fix that was lost. This record decides which generation is current for a sequence number.
struct GenerationStarts {
  static let capacity = 16

  private var generations: InlineArray<16, UInt32> = InlineArray(repeating: 0)
  private var sequences: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  private(set) var count = 0
  /// Oldest generation that the first entry represents; differs from the entry's own generation after a merge.
  private var oldest: UInt32 = 0

  /// Creates an empty record.
  init() {}

  /// Newest generation in the record; 0 if the record is empty.
  var newest: UInt32 { count == 0 ? 0 : generations[count - 1] }

  /// Records that `generation` starts at `sequence`. O(``capacity``).
  ///
  /// Removes entries that start at or above `sequence`, since `generation` supersedes them entirely. When the
  /// record is full, merges its two oldest entries into one with the lower start: fixes between the two starts
  /// may then be delivered twice, but no fix is skipped.
  ///
  /// - Precondition: `generation` is newer than all generations in the record.
  mutating func begin(_ generation: UInt32, at sequence: UInt64) {
    precondition(generation > newest, "a generation must be newer than all recorded ones")
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

  /// First sequence number whose fix is newer than `name`. O(``capacity``).
  func sequence(after name: FixName) -> UInt64 {
    let next = name.sequence == .max ? name.sequence : name.sequence + 1
    for i in 0..<count where generations[i] > name.generation { return min(next, sequences[i]) }
    return next
  }

  /// Whether no newer generation in the record supersedes the sequence number of `name`. O(``capacity``).
  ///
  /// Merged generations do not supersede each other: their separate starts are no longer known, and slots that
  /// one of them superseded were zeroed when the ring was opened at that time.
  func isCurrent(_ name: FixName) -> Bool {
    for i in 0..<count where (i == 0 ? oldest : generations[i]) > name.generation {
      return name.sequence < sequences[i]
    }
    return true
  }
}

extension GenerationStarts {
  /// Reads the record at `offset` of a header sector; nil if it is invalid.
  init?(_ image: RingImage, at offset: Int) {
    let length = image.uint32(at: offset)
    guard length <= UInt32(GenerationStarts.capacity) else { return nil }
    let n = Int(length)
    for i in 0..<n {
      let sequence = image.uint64(at: offset + 4 + 16 * i)
      let generation = image.uint32(at: offset + 12 + 16 * i)
      guard generation > newest, count == 0 || sequence > sequences[count - 1] else { return nil }
      begin(generation, at: sequence)
    }
    let first = image.uint32(at: offset + 16)
    if n == 0 || first == 0 { return }
    guard first < generations[0] else { return nil }
    oldest = first
  }

  /// Writes the record: the number of entries, then 16 bytes for each entry.
  func write(_ image: RingImage, at offset: Int) {
    image.setUInt32(UInt32(count), at: offset)
    for i in 0..<count {
      image.setUInt64(sequences[i], at: offset + 4 + 16 * i)
      image.setUInt32(generations[i], at: offset + 12 + 16 * i)
    }
    if count > 0, oldest < generations[0] { image.setUInt32(oldest, at: offset + 16) }
  }
}
