import LocationPolicy
import LocationTypes

/// The names that one client has given to its regions, with the engine's identifiers.
///
/// The engine identifies a region by kind and number; the socket by kind and name. A name keeps its number while it is
/// known here. It stays known after its region was removed or refused, so that a late event of the region still finds
/// its name, until the table is full and a new name needs the entry.
///
/// Owner: ``ServedClient``. Bounded: ``capacity`` names.
struct RegionNames {
  /// Maximum number of names: twice the number of monitored regions.
  static let capacity = 2 * RegionMonitor.capacity

  private struct Entry {
    var identifier: RegionIdentifier
    var name: String
    /// Whether the region was removed or refused. Late events still find its name.
    var isRemoved = false
    /// Whether the durable state contains the region.
    var isStored = false
  }

  private var entries: [Entry] = []
  private var nextNumber: UInt32 = 0

  /// Adds a name restored from disk.
  mutating func restore(_ identifier: RegionIdentifier, named name: String) {
    entries.append(Entry(identifier: identifier, name: name, isStored: true))
    nextNumber = max(nextNumber, identifier.number &+ 1)
  }

  /// The identifier of a region name. A new name gets a new number; in a full table it replaces the first removed name.
  /// Nil if the table is full and no name in it is removed.
  mutating func identifier(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    if let index = index(kind, named: name) {
      entries[index].isRemoved = false
      return entries[index].identifier
    }
    if entries.count == RegionNames.capacity {
      guard let removed = entries.firstIndex(where: \.isRemoved) else { return nil }
      entries.remove(at: removed)
    }
    let identifier = RegionIdentifier(kind, nextNumber)
    nextNumber &+= 1
    entries.append(Entry(identifier: identifier, name: name))
    return identifier
  }

  /// The identifier of a known region name; nil if it is unknown.
  func identifier(ofKnown kind: RegionKind, named name: String) -> RegionIdentifier? {
    index(kind, named: name).map { entries[$0].identifier }
  }

  /// Marks a region name as removed and returns its identifier; nil if it is unknown.
  mutating func remove(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    guard let index = index(kind, named: name) else { return nil }
    entries[index].isRemoved = true
    return entries[index].identifier
  }

  private func index(_ kind: RegionKind, named name: String) -> Int? {
    entries.firstIndex { $0.identifier.kind == kind && $0.name == name }
  }

  /// Updates which regions are monitored and durable. All others count as removed.
  mutating func setMonitored(_ monitored: Set<RegionIdentifier>) {
    for i in entries.indices {
      entries[i].isStored = monitored.contains(entries[i].identifier)
      entries[i].isRemoved = !entries[i].isStored
    }
  }

  /// Whether the client has regions, requested or in the durable state.
  var hasRegions: Bool { entries.contains { !$0.isRemoved || $0.isStored } }

  /// Whether the client monitors conditions.
  var hasConditions: Bool { entries.contains { $0.identifier.kind == .condition && !$0.isRemoved } }

  /// The name of a region; empty if unknown.
  func name(of identifier: RegionIdentifier) -> String {
    entries.last { $0.identifier == identifier }?.name ?? ""
  }
}
