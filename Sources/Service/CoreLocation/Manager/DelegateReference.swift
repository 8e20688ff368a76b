import Synchronization

/// The weak reference of a manager to its delegate, which one thread may set while another one calls it.
///
/// Problem: a manager that is created on another thread may be due to report the authorization before the program has
/// set a delegate. This notes that it was missed, so that the delegate gets it when it is set.
final class DelegateReference: Sendable {
  private struct State: @unchecked Sendable {
    // Only referenced here; its methods are called on the manager's thread.
    weak var delegate: (any CLLocationManagerDelegate)?
    var missesAuthorization = false
  }

  private let state = Mutex(State())

  /// The delegate, if it still exists.
  var delegate: (any CLLocationManagerDelegate)? { state.withLock { $0 }.delegate }

  /// Sets the delegate; whether it is to get the authorization that an absent one has missed.
  func set(_ delegate: (any CLLocationManagerDelegate)?) -> Bool {
    let new = State(delegate: delegate)
    return state.withLock { state in
      let isDue = new.delegate != nil && state.missesAuthorization
      state = State(
        delegate: new.delegate, missesAuthorization: state.missesAuthorization && !isDue)
      return isDue
    }
  }

  /// Notes that no delegate got the authorization; false if there is a delegate meanwhile.
  func missAuthorization() -> Bool {
    state.withLock { state in
      guard state.delegate == nil else { return false }
      state.missesAuthorization = true
      return true
    }
  }
}
