import BoardProfiles
import GNSSProtocols

/// A profile that agrees with the findings of a ``Doctor``: a correction of the given profile, or a new one.
///
/// Keeps the values of the given profile that the doctor cannot check. If the receiver was replaced by another model,
/// its parameters are proposed as `torpor board new` does, and marked as values to be measured.
public struct ProposedProfile: Sendable {
  /// The proposed profile; values that were not found are marked as proposals.
  public private(set) var new: NewProfile
  /// Paths of the keys that differ from the given profile, or that were found for a new one.
  public private(set) var changedPaths: [String] = []

  /// Creates a profile from the findings; nil if they contain nothing for a profile.
  ///
  /// - Parameter name: Name of the board: lower-case letters, digits and hyphens; nil to keep the name of the given
  ///   profile.
  public init?(_ doctor: Doctor, name: String?) throws(NewProfile.Rejection) {
    let facts = doctor.facts
    let profile = doctor.originalProfile
    guard profile != nil || facts.device != nil else { return nil }
    new = profile.map { NewProfile(revising: $0) } ?? NewProfile()
    if let name { try new.answer("name", name, deferringRules: true) }
    if new.name.isEmpty { try new.answer("name", "my-board", deferringRules: true) }
    if let receiver = profile?.receiver {
      try correct(receiver, facts)
    } else if profile == nil {
      try describe(facts)
    }
    for path in facts.missingLines {
      new.removeLine(path)
      new.note(path, "The GPIO line in the previous profile does not exist on this board.")
      changedPaths.append(path)
    }
    if profile?.board.suspended != nil, facts.canSuspend == false {
      try set("board.suspended", "no")
    }
  }

  private mutating func set(_ path: String, _ value: String) throws(NewProfile.Rejection) {
    try new.answer(path, value, deferringRules: true)
    changedPaths.append(path)
  }

  // MARK: New profile

  private mutating func describe(_ facts: Doctor.Facts) throws(NewProfile.Rejection) {
    guard let device = facts.device else { return }
    try set("description", ProposedProfile.summary(facts))
    try set("receiver.device", device)
    try set("receiver.family", "\((facts.identity?.family ?? .passive).name)")
    try setModel(facts)
    try setSpeeds(facts)
    // Suspend and battery change the behaviour of the service and need values that are not known yet.
    if facts.canSuspend == true {
      new.note(
        "board.suspended",
        "The kernel supports it; omitted until its values are measured.")
    }
    if let gauge = facts.gauge {
      new.note(
        "battery",
        "The kernel has the gauge \"\(gauge)\"; omitted until the thresholds are chosen."
      )
    }
  }

  // MARK: Correction of a given profile

  private mutating func correct(
    _ receiver: BoardProfile.Receiver, _ facts: Doctor.Facts
  ) throws(NewProfile.Rejection) {
    guard let device = facts.device else { return }
    if receiver.device != device { try set("receiver.device", device) }
    if let identity = facts.identity, ProposedProfile.isOtherModel(identity, than: receiver) {
      return try replace(receiver, by: identity, facts)
    }
    if receiver.model == nil { try setModel(facts) }
    guard let speed = facts.speed_baud.map({ Int($0) }),
      ![receiver.lineSpeed_baud, receiver.defaultLineSpeed_baud].contains(speed)
    else { return }
    guard receiver.family.acceptsCommands else {
      try set("receiver.line_speed_baud", "\(speed)")
      return try set("receiver.default_line_speed_baud", "\(speed)")
    }
    try setSpeed(speed, of: receiver.family)
  }

  /// Whether the detected receiver is another model than that of the profile.
  static func isOtherModel(_ identity: ReceiverIdentity, than receiver: BoardProfile.Receiver)
    -> Bool
  {
    // A profile with the family nmea is correct for a receiver of any family.
    if receiver.family != .passive, receiver.family != identity.family { return true }
    // Only u-blox receivers report the name of the module; others report their chip or release.
    guard identity.hardware != nil, let reported = identity.model?.lowercased(),
      let expected = receiver.model?.lowercased()
    else { return false }
    let words = expected.split(separator: " ").filter { $0.contains(where: \.isNumber) }
    return !expected.contains(reported) && !words.contains { reported.contains($0) }
  }

  private mutating func replace(
    _ receiver: BoardProfile.Receiver, by identity: ReceiverIdentity, _ facts: Doctor.Facts
  ) throws(NewProfile.Rejection) {
    let family = receiver.family == .passive ? .passive : identity.family
    new.replaceReceiver(family: family)
    if family != receiver.family { changedPaths.append("receiver.family") }
    try set("description", ProposedProfile.summary(facts))
    try setModel(facts)
    try setSpeeds(facts)
    let wiring =
      "This was wired to the previous receiver; check that it is wired to the new one."
    if receiver.wakeLine != nil { new.note("receiver.wake_line", wiring) }
    if receiver.supplyLine != nil { new.note("receiver.supply_line", wiring) }
    if receiver.pulseLine != nil { new.note("receiver.pulse_line", wiring) }
    if receiver.hasBackupSupply { new.note("receiver.backup_supply", wiring) }
  }

  private mutating func setModel(_ facts: Doctor.Facts) throws(NewProfile.Rejection) {
    guard let identity = facts.identity else { return }
    try set("receiver.model", String(identity.name.prefix(64)))
    new.note("receiver.model", "As reported by the receiver.")
  }

  /// Enters the speed at which a receiver was detected. Commands could set another speed.
  private mutating func setSpeeds(_ facts: Doctor.Facts) throws(NewProfile.Rejection) {
    guard let speed = facts.speed_baud.map({ Int($0) }) else { return }
    let family = facts.identity?.family ?? .passive
    if family.descriptor.isUsualDefaultSpeed(UInt32(speed)) {
      try set("receiver.default_line_speed_baud", "\(speed)")
      new.note(
        "receiver.default_line_speed_baud",
        "Detected at this speed; check that it is the speed after power-on."
      )
    }
    try set("receiver.line_speed_baud", "\(speed)")
    new.note("receiver.line_speed_baud", "Detected at this speed.")
  }

  /// Enters the detected speed of a receiver that accepts commands: its default, or a speed that a program set.
  ///
  /// The service tries both speeds, so a speed that a program set is correct as the line speed.
  private mutating func setSpeed(
    _ speed: Int, of family: ReceiverFamily
  ) throws(NewProfile.Rejection) {
    guard !family.descriptor.isUsualDefaultSpeed(UInt32(speed)) else {
      return try set("receiver.default_line_speed_baud", "\(speed)")
    }
    try set("receiver.line_speed_baud", "\(speed)")
    new.note(
      "receiver.line_speed_baud", "Detected at this speed, which a program may have set.")
  }

  private static func summary(_ facts: Doctor.Facts) -> String {
    let receiver = facts.identity?.name ?? "a receiver"
    let lineText = facts.device.map { " on \($0)" } ?? ""
    return String("\(facts.model ?? "A board") with \(receiver)\(lineText)".prefix(200))
  }

  /// The profile as TOML with comments.
  ///
  /// - Throws: ``ProfileErrors`` if the findings contradict values of the given profile.
  public func text(file: String) throws(ProfileErrors) -> String {
    _ = try new.profile(file: file)
    return ProfileTemplate.text(new)
  }
}
