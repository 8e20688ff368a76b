import LocationPolicy
import LocationTypes

/// A moment that crosses a power-off (RNG-8): the boot, the moment on its clock, and UTC where known.
public struct StoredMoment: Equatable, Sendable {
  /// Which boot, counted or hashed by the service; the clock below is that boot's.
  public var boot: UInt32
  /// The moment on the clock of that boot.
  public var instant: Instant
  /// The same in UTC, where known.
  public var utc: UTCTime?

  /// Creates a moment.
  public init(boot: UInt32, _ moment: VisitMoment) {
    self.boot = boot
    instant = moment.instant
    utc = moment.utc
  }

  /// The moment as the policy has it.
  public var moment: VisitMoment { VisitMoment(instant: instant, utc: utc) }

  static func values(_ moment: StoredMoment?) -> [StateValue] {
    guard let moment else { return [.null, .null, .null] }
    return [.number(moment.boot), .number(moment.instant.microseconds), .utc(moment.utc)]
  }
}

/// A visit that its client has not acknowledged (VIS-8).
public struct VisitRecord: StateRow {
  /// What tells one from the other.
  public struct Key: Hashable, Sendable {
    /// Whose.
    public var client: ClientNumber
    /// Counted by the service, in the order in which they are told.
    public var number: UInt32

    /// Creates a key.
    public init(client: ClientNumber, number: UInt32) {
      self.client = client
      self.number = number
    }
  }

  /// Whose, which number.
  public var key: Key
  /// The place.
  public var coordinate: Coordinate
  /// Metres.
  public var horizontalAccuracy: Double
  /// When it was come to; nil when not known (VIS-4).
  public var arrival: StoredMoment?
  /// When it was left; nil when not known.
  public var departure: StoredMoment?

  /// Creates the record of a visit that was told in that boot.
  public init(_ key: Key, _ visit: Visit, boot: UInt32) {
    self.key = key
    coordinate = visit.coordinate
    horizontalAccuracy = visit.horizontalAccuracy
    arrival = visit.arrival.map { StoredMoment(boot: boot, $0) }
    departure = visit.departure.map { StoredMoment(boot: boot, $0) }
  }

  /// The visit as the policy has it.
  public var visit: Visit {
    Visit(
      coordinate: coordinate, horizontalAccuracy: horizontalAccuracy, arrival: arrival?.moment,
      departure: departure?.moment)
  }

  /// The client that it goes with.
  public var owner: ClientNumber? { key.client }

  /// How it lies in the database.
  public static let layout = StateLayout(
    table: "visits",
    columns: [
      "client", "number", "latitude_e9", "longitude_e9", "accuracy_m", "arrival_boot",
      "arrival_us", "arrival_utc", "departure_boot", "departure_us", "departure_utc",
    ], keys: 2, capacity: ClientRecord.layout.capacity * 16)

  /// The columns of a key.
  public static func columns(of key: Key) -> StoredColumns {
    StoredColumns([.number(key.client), .number(key.number)])
  }

  /// What is written of it.
  public var stored: StoredColumns {
    var values = VisitRecord.columns(of: key).values
    values += [
      .number(coordinate.latitude_e9), .number(coordinate.longitude_e9), .real(horizontalAccuracy),
    ]
    values += StoredMoment.values(arrival) + StoredMoment.values(departure)
    return StoredColumns(values)
  }

  /// Checks a row from disk; nil if any value of it cannot be.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.whole(0, ClientNumber.self),
      let number = columns.whole(1, UInt32.self),
      let latitude = columns.whole(2, Int64.self), let longitude = columns.whole(3, Int64.self),
      let accuracy = columns.real(4), accuracy.isFinite,
      let arrival = columns.moment(5), let departure = columns.moment(8)
    else { return nil }
    let place = Coordinate(latitude_e9: latitude, longitude_e9: longitude)
    guard place.isValid else { return nil }
    let visit = Visit(coordinate: place, horizontalAccuracy: accuracy, arrival: nil)
    self.init(Key(client: client, number: number), visit, boot: 0)
    self.arrival = arrival
    self.departure = departure
  }
}

extension StoredColumns {
  /// A moment in three columns; nil if it is there and not to be taken.
  func moment(_ column: Int) -> StoredMoment?? {
    if (column..<column + 3).allSatisfy(isNull) { return .some(nil) }
    guard let boot = whole(column, UInt32.self),
      let microseconds = whole(column + 1, Int64.self), let utc = utc(column + 2)
    else { return nil }
    return StoredMoment(
      boot: boot, VisitMoment(instant: Instant(microseconds: microseconds), utc: utc))
  }
}
