extension AccessPolicy {
  /// The policy of a service without an administrator's file: root and the service's own user may
  /// all, and decide about others, who get nothing until then (AUT-7).
  public static func owned(by owner: UInt32) -> AccessPolicy {
    let users: Set<UInt32> = [0, owner]
    return AccessPolicy(
      rules: users.sorted().map {
        AccessRule(AccessSubject(uid: $0), AccessTerms(authorization: .always), line: 0)
      }, administrators: users)
  }
}
