import Synchronization

/// A number that the service gave, until it is given back.
final class OpenNumber: Sendable {
  private let value = Mutex<Int?>(nil)

  var number: Int? {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }

  /// Takes it, so that it is given back once.
  func take() -> Int? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
