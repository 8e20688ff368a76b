extension BoardProfile {
  /// The value of one of this profile's ``settings`` as JSON; nil for an optional key not set.
  public func json(of setting: ProfileSetting) -> String? {
    if case .points(let points) = setting.key.get(ProfileDraft(self)) {
      let objects = points.map {
        "{\"off_s\":\(shown($0.off.seconds)),\"fix_s\":\(shown($0.fix.seconds))}"
      }
      return "[" + objects.joined(separator: ",") + "]"
    }
    // Texts of a profile have no control characters: everything else is the same in TOML and JSON.
    return setting.value
  }
}
