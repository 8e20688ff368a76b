import LocationTypes

/// The serial line from the receiver to the board: bytes in transit and bytes that arrived but are unread, each with
/// its arrival time. O(1) per burst.
///
/// A burst is a sequence of bytes without a pause: byte k of n arrives after (k + 1) / n of the burst's duration.
struct ReceiverLine: Sendable {
  private struct Burst {
    var start: Int64
    var duration: Int64
    var speed: UInt32
    /// Number of bytes at the start of the burst.
    var total: Int
    /// Number of bytes that were read or lost.
    var consumed: Int

    var end: Int64 { start + duration }

    /// Returns the arrival time of byte `index`, rounded up to the microsecond.
    func arrival(_ index: Int) -> Int64 {
      start + (Int64(index + 1) * duration + Int64(total) - 1) / Int64(total)
    }

    /// Returns the number of bytes that have arrived by `time`.
    func arrived(by time: Int64) -> Int {
      if time >= end { return total }
      if time <= start { return 0 }
      // arrival(k) ≤ time ⇔ (k + 1) · duration ≤ (time − start) · total
      return Int((time - start) * Int64(total) / duration)
    }

    /// Returns the first `count` bytes, all of which have arrived by `time`.
    func arrivedPart(_ count: Int, by time: Int64) -> Burst {
      let end = min(time, arrival(count - 1))
      return Burst(
        start: start, duration: max(end - start, 1), speed: speed, total: count, consumed: consumed)
    }

    /// Returns the bytes from `index` on.
    func remainingPart(from index: Int) -> Burst {
      let begin = index > 0 ? arrival(index - 1) : start
      return Burst(
        start: begin, duration: max(end - begin, 1), speed: speed, total: total - index, consumed: 0
      )
    }
  }

  private var bytes: [UInt8] = []
  private var readIndex = 0
  private var bursts: [Burst] = []
  private var firstBurst = 0
  /// Number of bytes removed without being read.
  private(set) var lostBytes = 0

  init() {
    bytes.reserveCapacity(8_192)
    bursts.reserveCapacity(64)
  }

  /// Time at which the receiver has sent all bytes.
  private(set) var sendingEnd = Instant.boot

  /// Appends a burst that starts at `start`, or when the line is idle; 10 bits per byte.
  mutating func send(_ span: Span<UInt8>, at start: Instant, speed: UInt32) {
    let duration = (Int64(span.count) * 10_000_000 + Int64(speed) - 1) / Int64(speed)
    send(span, at: start, lasting: Interval(microseconds: duration), speed: speed)
  }

  /// Appends a burst with a given duration.
  mutating func send(
    _ span: Span<UInt8>, at start: Instant, lasting duration: Interval, speed: UInt32
  ) {
    guard !span.isEmpty else { return }
    let begin = max(start, sendingEnd)
    // The array copies the bytes.
    unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    bursts.append(
      Burst(
        start: begin.microseconds, duration: max(duration.microseconds, 1), speed: speed,
        total: span.count, consumed: 0))
    sendingEnd = begin + Interval(microseconds: max(duration.microseconds, 1))
  }

  /// Arrival time of the first unread byte; nil without one.
  var firstArrival: Instant? {
    guard firstBurst < bursts.count else { return nil }
    let burst = bursts[firstBurst]
    return Instant(microseconds: burst.arrival(burst.consumed))
  }

  /// Returns the time at which the serial driver delivers the next bytes: when `size` unread bytes have arrived or
  /// the burst ends; nil without unread bytes.
  func nextDeliveryTime(of size: Int) -> Instant? {
    guard firstBurst < bursts.count else { return nil }
    let burst = bursts[firstBurst]
    return Instant(microseconds: burst.arrival(min(burst.consumed + size, burst.total) - 1))
  }

  /// Returns the arrival time of the first byte after `time`; nil without one.
  func firstArrival(after time: Instant) -> Instant? {
    for burst in bursts[firstBurst...] where burst.end > time.microseconds {
      let next = max(burst.consumed, burst.arrived(by: time.microseconds))
      return Instant(microseconds: burst.arrival(next))
    }
    return nil
  }

  /// Replaces the contents of `chunk` by up to 256 bytes that have arrived by `now`. Bytes sent at another speed than
  /// `speed` are garbled.
  mutating func read(into chunk: inout ByteChunk, at now: Instant, speed: UInt32) {
    chunk.removeAll()
    while firstBurst < bursts.count, !chunk.isFull {
      let burst = bursts[firstBurst]
      let ready = burst.arrived(by: now.microseconds) - burst.consumed
      let count = min(ready, ByteChunk.capacity - chunk.count)
      if count <= 0 { break }
      if burst.speed == speed {
        chunk.append(bytes.span.extracting(readIndex..<(readIndex + count)))
      } else {
        for i in readIndex..<(readIndex + count) {
          chunk.append(ReceiverLine.garbled(bytes[i], at: i))
        }
      }
      consume(count)
    }
  }

  /// Returns the garbled value of a byte that was sampled at the wrong speed.
  private static func garbled(_ byte: UInt8, at index: Int) -> UInt8 {
    let mixed = (UInt32(byte) &+ UInt32(truncatingIfNeeded: index)) &* 2_654_435_761
    return UInt8(truncatingIfNeeded: mixed >> 24) | 0x80
  }

  /// Discards the bytes that have arrived by `now`, up to the first ones sent at the speed `kept`; nil for all.
  mutating func discardArrived(by now: Instant, keeping kept: UInt32? = nil) {
    while firstBurst < bursts.count, bursts[firstBurst].speed != kept {
      let ready = bursts[firstBurst].arrived(by: now.microseconds) - bursts[firstBurst].consumed
      if ready <= 0 { return }
      lostBytes += ready
      consume(ready)
    }
  }

  /// Discards the bytes that have arrived by `now` after the input buffer of `limit` bytes was full.
  mutating func discardExcess(over limit: Int, by now: Instant) {
    if bytes.count - readIndex <= limit { return }
    var freeSpace = limit
    var index = readIndex
    var remaining: [Burst] = []
    for burst in bursts[firstBurst...] {
      let arrived = max(burst.arrived(by: now.microseconds), burst.consumed)
      let retained = min(arrived - burst.consumed, freeSpace)
      let excess = arrived - burst.consumed - retained
      freeSpace -= retained
      if excess == 0 {
        remaining.append(burst)
        index += burst.total - burst.consumed
        continue
      }
      lostBytes += excess
      bytes.removeSubrange((index + retained)..<(index + retained + excess))
      if retained > 0 {
        remaining.append(burst.arrivedPart(burst.consumed + retained, by: now.microseconds))
      }
      if arrived < burst.total { remaining.append(burst.remainingPart(from: arrived)) }
      index += retained + burst.total - arrived
    }
    bursts.replaceSubrange(firstBurst..., with: remaining)
    if firstBurst == bursts.count { reset() }
  }

  /// Removes the bytes that have not arrived by `now`, because the receiver stopped sending.
  mutating func truncate(at now: Instant) {
    while let burst = bursts.last, bursts.count > firstBurst, burst.end > now.microseconds {
      let arrived = max(burst.arrived(by: now.microseconds), burst.consumed)
      bytes.removeLast(burst.total - arrived)
      bursts.removeLast()
      guard arrived > burst.consumed else { continue }
      bursts.append(burst.arrivedPart(arrived, by: now.microseconds))
      break
    }
    sendingEnd = min(sendingEnd, now)
    if firstBurst == bursts.count { reset() }
  }

  private mutating func consume(_ count: Int) {
    readIndex += count
    let consumed = bursts[firstBurst].consumed + count
    bursts[firstBurst].consumed = consumed
    if consumed == bursts[firstBurst].total { firstBurst += 1 }
    if firstBurst == bursts.count {
      reset()
    } else if firstBurst >= 1_024 {
      bursts.removeFirst(firstBurst)
      bytes.removeFirst(readIndex)
      firstBurst = 0
      readIndex = 0
    }
  }

  private mutating func reset() {
    bursts.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    firstBurst = 0
    readIndex = 0
  }
}
