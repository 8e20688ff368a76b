import Dispatch
import Foundation

/// Converts between coordinates and names of places.
///
/// The service has no maps: every request ends with ``CLError/Code/network``, asynchronously and on the main queue, which
/// is Apple's documented result without a network. Source: Apple's documentation of `CLGeocoder`. Left out:
/// `geocodePostalAddress`.
open class CLGeocoder: NSObject {
  private var pending: PendingGeocode?

  /// Whether a request is in progress.
  open var isGeocoding: Bool { pending != nil }

  /// Creates a geocoder.
  public override init() { super.init() }

  /// Requests the names of a location.
  open func reverseGeocodeLocation(
    _ location: CLLocation, completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    fail(completionHandler)
  }

  /// Requests the names of a location in the language of `locale`.
  open func reverseGeocodeLocation(
    _ location: CLLocation, preferredLocale locale: Locale?,
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    fail(completionHandler)
  }

  /// Requests the location of an address.
  open func geocodeAddressString(
    _ addressString: String, completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    fail(completionHandler)
  }

  /// Requests the location of an address, preferably in `region`.
  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion?,
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    fail(completionHandler)
  }

  /// Requests the location of an address, preferably in `region`, in the language of `locale`.
  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion?, preferredLocale locale: Locale?,
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    fail(completionHandler)
  }

  /// Requests the location of an address.
  @available(*, deprecated, message: "Use geocodeAddressString(_:completionHandler:)")
  open func geocodeAddressDictionary(
    _ addressDictionary: [AnyHashable: Any],
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    fail(completionHandler)
  }

  /// Requests the names of a location.
  open func reverseGeocodeLocation(_ location: CLLocation) async throws -> [CLPlacemark] {
    throw CLError(.network)
  }

  /// Requests the names of a location in the language of `locale`.
  open func reverseGeocodeLocation(
    _ location: CLLocation, preferredLocale locale: Locale?
  ) async throws -> [CLPlacemark] {
    throw CLError(.network)
  }

  /// Requests the location of an address.
  open func geocodeAddressString(_ addressString: String) async throws -> [CLPlacemark] {
    throw CLError(.network)
  }

  /// Requests the location of an address, preferably in `region`.
  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion?
  ) async throws -> [CLPlacemark] {
    throw CLError(.network)
  }

  /// Requests the location of an address, preferably in `region`, in the language of `locale`.
  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion?, preferredLocale locale: Locale?
  ) async throws -> [CLPlacemark] {
    throw CLError(.network)
  }

  /// Cancels the request in progress: its handler receives ``CLError/Code/geocodeCanceled``.
  open func cancelGeocode() { pending?.code = .geocodeCanceled }

  /// Calls the handler on the main queue; only one request is in progress at a time, a further one fails likewise.
  private func fail(_ handler: @escaping CLGeocodeCompletionHandler) {
    let request = PendingGeocode(geocoder: self, handler: handler)
    if pending == nil { pending = request }
    DispatchQueue.main.async { request.finish() }
  }

  /// A request whose handler is called on the main queue.
  private final class PendingGeocode: @unchecked Sendable {
    let geocoder: CLGeocoder
    let handler: CLGeocodeCompletionHandler
    var code = CLError.Code.network

    init(geocoder: CLGeocoder, handler: @escaping CLGeocodeCompletionHandler) {
      self.geocoder = geocoder
      self.handler = handler
    }

    func finish() {
      if geocoder.pending === self { geocoder.pending = nil }
      handler(nil, CLError(code))
    }
  }
}
