import Foundation

/// A stay at a location (contract section VIS). Source: Apple's documentation of `CLVisit`.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let arrival: Date
  private let departure: Date
  private let center: CLLocationCoordinate2D
  private let accuracy: CLLocationAccuracy

  /// When the device arrived; `.distantPast` if not known (VIS-4).
  open var arrivalDate: Date { arrival }
  /// When the device left; `.distantFuture` while the visit lasts (VIS-4).
  open var departureDate: Date { departure }
  /// Centre of the stay; the same in the arrival and the departure event (VIS-6).
  open var coordinate: CLLocationCoordinate2D { center }
  /// Radius of uncertainty of ``coordinate``, metres.
  open var horizontalAccuracy: CLLocationAccuracy { accuracy }

  /// Creates a visit without a valid location and with unknown dates; for subclasses.
  public override init() {
    arrival = .distantPast
    departure = .distantFuture
    center = kCLLocationCoordinate2DInvalid
    accuracy = -1
    super.init()
  }

  init(
    arrivalDate: Date, departureDate: Date, coordinate: CLLocationCoordinate2D,
    horizontalAccuracy: CLLocationAccuracy
  ) {
    arrival = arrivalDate
    departure = departureDate
    center = coordinate
    accuracy = horizontalAccuracy
    super.init()
  }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a visit from an archive.
  public required init?(coder: NSCoder) {
    arrival = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "arrivalDate"))
    departure = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "departureDate"))
    center = CLLocationCoordinate2D(
      latitude: coder.decodeDouble(forKey: "latitude"),
      longitude: coder.decodeDouble(forKey: "longitude"))
    accuracy = coder.decodeDouble(forKey: "horizontalAccuracy")
    super.init()
  }

  /// Writes the visit to an archive.
  open func encode(with coder: NSCoder) {
    coder.encode(arrival.timeIntervalSinceReferenceDate, forKey: "arrivalDate")
    coder.encode(departure.timeIntervalSinceReferenceDate, forKey: "departureDate")
    coder.encode(center.latitude, forKey: "latitude")
    coder.encode(center.longitude, forKey: "longitude")
    coder.encode(accuracy, forKey: "horizontalAccuracy")
  }

  /// Returns the visit itself, because it cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Location, arrival and departure.
  open override var description: String {
    String(
      format: "<%+.8f,%+.8f> +/- %.2fm ", coordinate.latitude, coordinate.longitude,
      horizontalAccuracy) + "(\(arrivalDate) to \(departureDate))"
  }
}
