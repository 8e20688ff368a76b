import LocationTypes

/// Fixes that arrived and are not acknowledged: how many managers still have to handle each of them.
///
/// An acknowledgement covers all earlier fixes, so a fix is acknowledged when it and all earlier ones are handled
/// (RNG-8). Sorted by name; each operation is O(log n) except where a fix arrives out of order.
struct FixLedger: Sendable {
  private var entries: [(name: FixName, managers: Int)] = []
  /// The newest fix that was acknowledged, or is to be acknowledged.
  private(set) var newest: FixName?

  /// Adds managers that have to handle a fix; ignores a fix that was acknowledged.
  mutating func add(_ name: FixName, managers: Int) {
    if let newest, name <= newest { return }
    let index = position(of: name)
    if index < entries.count, entries[index].name == name {
      entries[index].managers += managers
    } else {
      entries.insert((name, managers), at: index)
    }
  }

  /// A manager has handled a fix, or will not handle it any more.
  mutating func release(_ name: FixName) {
    let index = position(of: name)
    guard index < entries.count, entries[index].name == name else { return }
    entries[index].managers -= 1
  }

  /// Returns the newest fix that is handled together with all earlier ones, and removes these; nil if there is none.
  mutating func consumeHandled() -> FixName? {
    let count = entries.firstIndex { $0.managers > 0 } ?? entries.count
    guard count > 0 else { return nil }
    newest = entries[count - 1].name
    entries.removeFirst(count)
    return newest
  }

  private func position(of name: FixName) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Numbered events (visits, events of regions and conditions) that arrived and are not acknowledged.
///
/// As for fixes, an acknowledgement covers all earlier numbers (REG-13).
struct EventLedger: Sendable {
  private struct Entry {
    let number: UInt32
    var receivers = 0
    /// Whether nobody may ever handle it; it does not hold back later events.
    var isUnclaimed = false
  }

  private var entries: [Entry] = []
  private var newest: UInt32 = 0
  /// The greatest number that was acknowledged, or is to be acknowledged.
  private(set) var acknowledged: UInt32 = 0

  /// Records the arrival of an event; false if it arrived before, on an earlier connection.
  mutating func recordArrival(_ number: UInt32) -> Bool {
    guard number > newest else { return number == 0 }
    newest = number
    entries.append(Entry(number: number))
    return true
  }

  /// Adds receivers that have to handle an event.
  mutating func add(_ number: UInt32, receivers: Int) {
    if let index = index(of: number) { entries[index].receivers += receivers }
  }

  /// Sets whether nobody may ever handle an event. It is then acknowledged only together with a later, handled one.
  mutating func setUnclaimed(_ number: UInt32, _ isUnclaimed: Bool) {
    if let index = index(of: number) { entries[index].isUnclaimed = isUnclaimed }
  }

  /// A receiver has handled an event.
  mutating func release(_ number: UInt32) {
    if let index = index(of: number) { entries[index].receivers -= 1 }
  }

  /// Returns the newest number up to which all events are handled, and removes these; nil if there is none.
  mutating func consumeHandled() -> UInt32? {
    let count = entries.firstIndex { $0.receivers > 0 && !$0.isUnclaimed } ?? entries.count
    guard let index = entries[..<count].lastIndex(where: { $0.receivers <= 0 }) else { return nil }
    let last = entries[index].number
    entries.removeFirst(index + 1)
    acknowledged = last
    return last
  }

  private func index(of number: UInt32) -> Int? {
    number == 0 ? nil : entries.firstIndex { $0.number == number }
  }
}
