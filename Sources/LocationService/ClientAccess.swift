import LocationPolicy
import LocationWire

/// Who may know where the board is (AUT-1, AUT-2, AUT-7).
public struct ClientAccess: Sendable {
  /// What a client may.
  public struct Decision: Equatable, Sendable {
    /// Whether it may use location.
    public var authorization: Authorization
    /// Whether it is to know no more than about where it is (AUT-5).
    public var isReduced: Bool

    /// Creates a decision.
    public init(_ authorization: Authorization, isReduced: Bool = false) {
      self.authorization = authorization
      self.isReduced = isReduced
    }
  }

  /// The service's own user, who may administer it; so may root.
  public var owner: UInt32

  /// The access of a service of that user, without a policy of an administrator.
  public init(owner: UInt32) { self.owner = owner }

  /// Whether a user may say who may what.
  public func isAdministrator(_ user: UInt32) -> Bool { user == 0 || user == owner }

  /// What a client may that nothing was decided of: its own user's programs may all, others must be
  /// allowed first.
  public func decision(for client: WireClientName) -> Decision {
    Decision(isAdministrator(client.user) ? .always : .notDetermined)
  }
}
