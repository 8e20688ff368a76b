import AccessPolicy
import LocationPolicy
import LocationTypes
import LocationWire

/// A client the service knows, whether a process of it is there or not.
struct ClientRecord {
  /// Names of circles that were in use and are remembered, so that what is told late of one finds its
  /// name: twice what can be monitored.
  static let namesLimit = 2 * RegionMonitor.capacity

  /// A name that the client gave a circle.
  struct RegionName {
    var identifier: RegionIdentifier
    var name: String
  }

  let name: WireClientName
  /// What it may, and who says so.
  var access: ClientAccess
  /// What its process said it is; what the engine is told may be less, see ``isHeld``.
  var execution = ExecutionState.foreground
  /// The connection that speaks for it; nil while no process is there.
  var control: Int?
  /// The connection that hears its notices.
  var watch: Int?
  /// By which its process lets another connection hear its notices; 0 without a process.
  var session: Int64 = 0
  /// Nobody hears it, or whoever does takes too little: it is told nothing until that ends (BKG-2).
  var isHeld = false
  /// Notices that are not written yet, in their order.
  var notices: [Notice] = []
  /// Numbers of live iterators that are in use, one bit each.
  var live: UInt8 = 0
  private var regions: [RegionName] = []
  private var nextNumber: UInt32 = 0

  init(_ name: WireClientName, _ access: ClientAccess) {
    self.name = name
    self.access = access
  }

  /// The number of a name; a new one if it has none.
  ///
  /// Of names that are over the limit the oldest is forgotten: with so many, it is monitored no more.
  mutating func identifier(_ kind: RegionKind, named name: String) -> RegionIdentifier {
    if let known = known(kind, named: name) { return known }
    if regions.count == ClientRecord.namesLimit { regions.removeFirst() }
    let identifier = RegionIdentifier(kind, nextNumber)
    nextNumber &+= 1
    regions.append(RegionName(identifier: identifier, name: name))
    return identifier
  }

  /// The number of a name, if it has one; it counts as the youngest from now on.
  mutating func known(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    let place = regions.firstIndex { $0.identifier.kind == kind && $0.name == name }
    guard let place else { return nil }
    let region = regions.remove(at: place)
    regions.append(region)
    return region.identifier
  }

  /// The name of a number.
  func name(of identifier: RegionIdentifier) -> String {
    regions.last { $0.identifier == identifier }?.name ?? ""
  }
}
