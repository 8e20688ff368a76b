extension ProfileSchema {
  static let battery: [ProfileKey] = [
    .text(
      "battery", "gauge", optional: \.battery.gauge, 1...64,
      "The gauge's name on Linux, below `/sys/class/power_supply`."),
    .text(
      "battery", "low_line", optional: \.battery.lowLine, 1...64,
      "GPIO line that is active while the battery is low; for a board without a gauge."),
    .whole(
      "battery", "low_percent", \.battery.lowCharge, BoardProfile.Battery.charges, required: false,
      "The charge that is taken to be there while `low_line` is active; 100 while it is not."),
    charge(
      "every_fix_percent", \.battery.everyFix,
      "Below it nobody gets every fix, nor a position nearer than 100 m: who wants that gets 100 m."
    ),
    charge(
      "accuracy_percent", \.battery.accuracy,
      "Below it nobody gets a position nearer than 1 km: who wants that gets 1 km."),
    charge(
      "updates_percent", \.battery.updates,
      "Below it there are no updates, deferred or live, and no single fixes."),
    charge("visits_percent", \.battery.visits, "Below it there are no visits."),
    charge(
      "regions_percent", \.battery.regions, "Below it no region or condition is monitored."),
    charge(
      "significant_percent", \.battery.significantChange,
      "Below it no significant change is told."),
    .whole(
      "battery", "margin_percent", \.battery.margin, 0...50, required: false,
      "How far above its figure the charge must be before a promise holds again; 100 is always"
        + " enough."),
  ]

  /// A charge below which something is given up.
  private static func charge(
    _ name: String, _ field: Field<Int?>, _ meaning: String
  ) -> ProfileKey {
    .whole("battery", name, optional: field, BoardProfile.Battery.charges, meaning)
  }
}
