extension BoardProfile {
  /// The value of one of this profile's ``settings`` as JSON; nil for an optional key that is not set.
  public func json(of setting: ProfileSetting) -> String? {
    if case .points(let points) = setting.key.get(ProfileDraft(self)) {
      let objects = points.map {
        "{\"off_s\":\(decimalText($0.off.seconds)),\"fix_s\":\(decimalText($0.fix.seconds))}"
      }
      return "[" + objects.joined(separator: ",") + "]"
    }
    // Strings in a profile contain no control characters, so TOML and JSON write every other value alike.
    return setting.value
  }
}
