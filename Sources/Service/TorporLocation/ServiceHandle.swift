import Synchronization

/// The number of an object that the service has opened, until it is closed.
final class ServiceHandle: Sendable {
  private let value = Mutex<Int?>(nil)

  var number: Int? {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }

  /// Returns and clears the number, so that the object is closed once.
  func consume() -> Int? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
