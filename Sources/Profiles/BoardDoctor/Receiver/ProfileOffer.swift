import BoardProfiles

/// A profile of what was found: the given one where it is wrong, or a new one.
///
/// What a doctor cannot see stays as the given profile has it, but for the figures of a receiver that is
/// another one now: those are proposed as `torpor board new` would, and marked as what is to be measured.
public struct ProfileOffer: Sendable {
  /// As `torpor board new` would have asked for it: what was not found is proposed, and marked so.
  public private(set) var new: NewProfile
  /// Keys that say something else than the given profile, or are found for a new one.
  public private(set) var found: [String] = []

  /// Makes one; nil where nothing was found that a profile could say.
  ///
  /// - Parameter name: The board's: small letters, digits and hyphens; nil to keep the given profile's.
  public init?(_ doctor: Doctor, name: String?) throws(NewProfile.Rejection) {
    let facts = doctor.facts
    let profile = doctor.given
    guard profile != nil || facts.device != nil else { return nil }
    new = profile.map { NewProfile(revising: $0) } ?? NewProfile()
    if let name { try new.answer("name", name, alone: true) }
    if new.name.isEmpty { try new.answer("name", "my-board", alone: true) }
    if let receiver = profile?.receiver {
      try correct(receiver, facts)
    } else if profile == nil {
      try describe(facts)
    }
    for path in facts.missingLines {
      new.leaveOutLine(path)
      new.note(path, "The line that was named here is not on this board.")
      found.append(path)
    }
    if profile?.board.suspended != nil, facts.canSuspend == false {
      try put("board.suspended", "no")
    }
  }

  private mutating func put(_ path: String, _ value: String) throws(NewProfile.Rejection) {
    try new.answer(path, value, alone: true)
    found.append(path)
  }

  // MARK: A new one

  private mutating func describe(_ facts: Doctor.Facts) throws(NewProfile.Rejection) {
    guard let device = facts.device else { return }
    try put("description", ProfileOffer.summary(facts))
    try put("receiver.device", device)
    try put("receiver.family", (facts.identity?.family ?? .nmea).rawValue)
    try putModel(facts)
    try putSpeeds(facts)
    // Both change what the service does, by figures that nobody has seen yet.
    if facts.canSuspend == true {
      new.note(
        "board.suspended",
        "The kernel can; left out until its figures are measured.")
    }
    if let gauge = facts.gauge {
      new.note(
        "battery",
        "The kernel has the gauge \"\(gauge)\"; left out until somebody chooses what is given up when."
      )
    }
  }

  // MARK: One that is given

  private mutating func correct(
    _ receiver: BoardProfile.Receiver, _ facts: Doctor.Facts
  ) throws(NewProfile.Rejection) {
    guard let device = facts.device else { return }
    if receiver.device != device { try put("receiver.device", device) }
    if let identity = facts.identity, ProfileOffer.isOther(identity, than: receiver) {
      return try replace(receiver, by: identity, facts)
    }
    if receiver.model == nil { try putModel(facts) }
    guard let speed = facts.speed_baud.map({ Int($0) }),
      ![receiver.lineSpeed_baud, receiver.defaultLineSpeed_baud].contains(speed)
    else { return }
    guard receiver.family.takesCommands else {
      try put("receiver.line_speed_baud", "\(speed)")
      return try put("receiver.default_line_speed_baud", "\(speed)")
    }
    try putSpeed(speed, of: receiver.family)
  }

  /// Whether what was found is another receiver than the profile has figures of.
  static func isOther(_ identity: ReceiverIdentity, than receiver: BoardProfile.Receiver) -> Bool {
    // A profile that only listens is right with any family.
    if receiver.family != .nmea, receiver.family != identity.family { return true }
    // Others tell their chip or their release, and not what is printed on the module.
    guard identity.maker == .ublox, let told = identity.model?.lowercased(),
      let said = receiver.model?.lowercased()
    else { return false }
    let words = said.split(separator: " ").filter { $0.contains(where: \.isNumber) }
    return !said.contains(told) && !words.contains { told.contains($0) }
  }

  private mutating func replace(
    _ receiver: BoardProfile.Receiver, by identity: ReceiverIdentity, _ facts: Doctor.Facts
  ) throws(NewProfile.Rejection) {
    let family = receiver.family == .nmea ? .nmea : identity.family
    new.replaceReceiver(family: family)
    if family != receiver.family { found.append("receiver.family") }
    try put("description", ProfileOffer.summary(facts))
    try putModel(facts)
    try putSpeeds(facts)
    let wiring =
      "It was wired to the receiver before this one: look whether it is to this one, too."
    if receiver.wakeLine != nil { new.note("receiver.wake_line", wiring) }
    if receiver.supplyLine != nil { new.note("receiver.supply_line", wiring) }
    if receiver.pulseLine != nil { new.note("receiver.pulse_line", wiring) }
    if receiver.hasBackupSupply { new.note("receiver.backup_supply", wiring) }
  }

  private mutating func putModel(_ facts: Doctor.Facts) throws(NewProfile.Rejection) {
    guard let identity = facts.identity else { return }
    try put("receiver.model", String(identity.name.prefix(64)))
    new.note("receiver.model", "As it says itself.")
  }

  /// The speed at which a receiver was heard. One that takes commands can be told another.
  private mutating func putSpeeds(_ facts: Doctor.Facts) throws(NewProfile.Rejection) {
    guard let speed = facts.speed_baud.map({ Int($0) }) else { return }
    let family = facts.identity?.family ?? .nmea
    if family.startsAt(UInt32(speed)) {
      try put("receiver.default_line_speed_baud", "\(speed)")
      new.note(
        "receiver.default_line_speed_baud", "It was heard at this speed: is it that after power-on?"
      )
    }
    try put("receiver.line_speed_baud", "\(speed)")
    new.note("receiver.line_speed_baud", "It was heard at this speed.")
  }

  /// The speed at which one that takes commands was heard: its own, or one that a program has set.
  ///
  /// The service looks for a receiver at both speeds, so a speed that was set is right as the line's.
  private mutating func putSpeed(
    _ speed: Int, of family: BoardProfile.Receiver.Family
  ) throws(NewProfile.Rejection) {
    guard !family.startsAt(UInt32(speed)) else {
      return try put("receiver.default_line_speed_baud", "\(speed)")
    }
    try put("receiver.line_speed_baud", "\(speed)")
    new.note(
      "receiver.line_speed_baud", "It was heard at this speed, which a program may have set.")
  }

  private static func summary(_ facts: Doctor.Facts) -> String {
    let receiver = facts.identity?.name ?? "a receiver"
    let place = facts.device.map { " on \($0)" } ?? ""
    return String("\(facts.model ?? "A board") with \(receiver)\(place)".prefix(200))
  }

  /// Its text, with comments.
  ///
  /// - Throws: ``ProfileErrors`` where what was found does not agree with what was given.
  public func text(file: String) throws(ProfileErrors) -> String {
    _ = try new.profile(file: file)
    return ProfileTemplate.text(new)
  }
}

extension BoardProfile.Receiver.Family {
  /// Whether receivers of the family are usually sold with this speed. Any other one was probably set by
  /// a program, `torpord` for instance, and may not be the one after power-on.
  func startsAt(_ speed_baud: UInt32) -> Bool {
    switch self {
    case .ubloxM8, .mtk, .casic: speed_baud == 9_600
    case .ubloxM10: speed_baud == 9_600 || speed_baud == 38_400
    case .airoha: speed_baud == 9_600 || speed_baud == 115_200
    case .nmea: true
    }
  }
}
