import LocationPolicy

extension LiveFlags {
  /// Each flag and its name as it stands in a trace: Core Location's property in small letters.
  private static let all: [(flag: LiveFlags, name: String)] = [
    (.authorizationDenied, "authorization_denied"),
    (.authorizationDeniedGlobally, "authorization_denied_globally"),
    (.authorizationRestricted, "authorization_restricted"),
    (.insufficientlyInUse, "insufficiently_in_use"),
    (.locationUnavailable, "location_unavailable"),
    (.accuracyLimited, "accuracy_limited"),
    (.serviceSessionRequired, "service_session_required"),
    (.authorizationRequestInProgress, "authorization_request_in_progress"),
  ]

  /// The names of those that hold, in the order of their bits.
  var names: [String] { LiveFlags.all.filter { holdsAny(of: $0.flag) }.map(\.name) }
}
