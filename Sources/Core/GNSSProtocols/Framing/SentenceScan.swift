import CCore

/// Incremental scan of a sentence: its checksum so far and the offsets of its commas.
///
/// Kept while the sentence is incomplete, so that no sixteen bytes are scanned twice. All offsets are
/// relative to the byte after the `$`. Used by ``StreamDecoder``; depends on `CCore`.
struct SentenceScan {
  /// Number of fields that can be read; further ones are part of the checksum only.
  static var fieldLimit: Int { 24 }
  /// Number of bytes after the last one that are loaded with it; their content has no effect.
  static var margin: Int { 16 }

  // Number of bytes scanned: a multiple of 16 until the end is found.
  private var scanned = 0
  // Commas among the bytes scanned since the last multiple of 64, one bit each.
  private var commaMask: UInt64 = 0
  /// Checksum of the bytes scanned.
  private var sum = SentenceParity()
  // Number and offsets of the recorded commas: at most 24, and then up to 64 of another group of bytes.
  private var commaCount = 0
  private var commaOffsets = InlineArray<88, UInt16>(repeating: 0)

  /// Resets the scan to the start of another sentence.
  @inline(__always) mutating func reset() {
    scanned = 0
    commaMask = 0
    sum = SentenceParity()
    commaCount = 0
  }

  /// Exclusive or of the bytes scanned.
  @inline(__always) var parity: UInt8 { sum.byte }

  /// Records the offsets of the last fields, if the next eight bytes begin with a star and the correct
  /// checksum in capitals.
  ///
  /// - Returns: Number of those bytes that belong to the sentence; nil otherwise.
  @inline(__always) mutating func close(before word: UInt64) -> Int? {
    guard let tail = NMEAFraming.tail(word, sum.byte) else { return nil }
    close()
    return tail
  }

  /// Records the offsets of the last fields.
  @inline(__always) mutating func close() {
    recordCommas(commaMask, from: scanned & ~63)
    if commaCount <= SentenceScan.fieldLimit {
      commaOffsets[commaCount] = UInt16(truncatingIfNeeded: scanned)
    }
  }

  /// Offsets of the commas and of the end of the last field: one more than there are readable fields,
  /// because each field begins after a comma.
  ///
  /// Valid after `close`.
  var fieldOffsets: Span<UInt16> {
    @_lifetime(borrow self) @inline(__always)
    get { commaOffsets.span.extracting(0...min(commaCount, SentenceScan.fieldLimit)) }
  }

  /// Continues the scan of the sentence whose first byte after the `$` is `i`, up to a star, a byte
  /// that no sentence contains, or `limit`. O(bytes), sixteen at a time.
  ///
  /// - Precondition: ``margin`` bytes follow `limit`.
  /// - Returns: Index at which the scan stopped.
  @inline(__always)
  mutating func run(_ s: Span<UInt8>, _ i: Int, upTo limit: Int) -> Int {
    precondition(
      i >= 0 && scanned >= 0 && limit >= 0 && limit <= s.count &- SentenceScan.margin,
      "the sentence and a margin lie in the span")
    var offset = scanned
    var progress = Progress(sum: sum, commaMask: commaMask)
    while i &+ offset < limit {
      // Bounds: 0 ≤ i + offset, which is below limit, and limit + margin ≤ count.
      let bytes = unsafe s.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: i &+ offset, as: SIMD16<UInt8>.self)
      let ends = bytes16_delimiters(bytes)
      let remaining = limit &- i &- offset
      if ends != 0 || remaining < 16 {
        let end = ends == 0 ? 16 : ends.trailingZeroBitCount
        // The last bytes are scanned again when more follow.
        if end >= remaining { break }
        progress.add(bytes, end, at: offset)
        (sum, commaMask, scanned) = (progress.sum, progress.commaMask, offset &+ end)
        return i &+ scanned
      }
      progress.add(bytes, at: offset)
      offset &+= 16
      if offset & 63 == 0 {
        recordCommas(progress.commaMask, from: offset &- 64)
        progress.commaMask = 0
      }
    }
    (sum, commaMask, scanned) = (progress.sum, progress.commaMask, offset)
    return limit
  }

  /// Records the offsets of up to 64 commas, relative to `start`.
  @inline(never) private mutating func recordCommas(_ commaMask: UInt64, from start: Int) {
    if commaCount > SentenceScan.fieldLimit { return }
    var count = commaCount
    var remaining = commaMask
    while remaining != 0 {
      // At most 24 were recorded before, and 64 are marked: there is capacity for 88.
      let offset = start &+ remaining.trailingZeroBitCount
      unsafe commaOffsets[unchecked: count] = UInt16(truncatingIfNeeded: offset)
      count &+= 1
      remaining &= remaining &- 1
    }
    commaCount = count
  }
}

extension SentenceScan {
  /// Checksum and commas of the bytes scanned, kept in registers during a scan.
  private struct Progress {
    fileprivate(set) var sum: SentenceParity
    fileprivate(set) var commaMask: UInt64

    /// Adds sixteen bytes, the first one at `offset`.
    @inline(__always) mutating func add(_ bytes: SIMD16<UInt8>, at offset: Int) {
      sum.add(bytes)
      addCommas(bytes16_commas(bytes), at: offset)
    }

    /// Adds the first `count` of sixteen bytes; `count` is below 16.
    @inline(__always) mutating func add(_ bytes: SIMD16<UInt8>, _ count: Int, at offset: Int) {
      sum.add(bytes, count)
      addCommas(
        bytes16_commas(bytes) & ((1 &<< UInt32(truncatingIfNeeded: count)) &- 1), at: offset)
    }

    @inline(__always) private mutating func addCommas(_ commas: UInt32, at offset: Int) {
      commaMask |= UInt64(commas) &<< UInt64(truncatingIfNeeded: offset)
    }
  }
}
