import BoardProfiles

/// A profile of what was found: the given one where it is wrong, or a new one.
public struct ProfileOffer: Sendable {
  /// As `torpor board new` would have asked for it: what was not found is proposed, and marked so.
  public private(set) var new = NewProfile()
  /// Keys that say something else than the given profile, or are found for a new one.
  public private(set) var found: [String] = []

  /// Makes one; nil where nothing was found that a profile could say.
  ///
  /// - Parameter name: The board's: small letters, digits and hyphens; nil to keep the given profile's.
  public init?(_ doctor: Doctor, name: String?) throws(NewProfile.Rejection) {
    let facts = doctor.facts
    let profile = doctor.options.profile
    guard profile != nil || facts.device != nil else { return nil }
    if let profile {
      for setting in profile.settings where !setting.isDefault {
        if let value = setting.value { try new.answer(setting.key.path, value, alone: true) }
      }
      if profile.receiver == nil { try new.answer("receiver", "no", alone: true) }
    }
    if let name { try new.answer("name", name, alone: true) }
    if new.name.isEmpty { try new.answer("name", "my-board", alone: true) }
    if profile == nil { try put("description", ProfileOffer.summary(facts)) }
    try putReceiver(facts, profile?.receiver)
    if profile?.board.suspended != nil, facts.canSuspend == false {
      try put("board.suspended", "no")
    }
    if profile == nil, facts.canSuspend == true { try put("board.suspended", "yes") }
    if let gauge = facts.gauge, profile == nil { try put("battery.gauge", gauge) }
  }

  private mutating func put(_ path: String, _ value: String) throws(NewProfile.Rejection) {
    try new.answer(path, value, alone: true)
    found.append(path)
  }

  private mutating func putReceiver(
    _ facts: Doctor.Facts, _ receiver: BoardProfile.Receiver?
  ) throws(NewProfile.Rejection) {
    guard let device = facts.device else { return }
    if receiver?.device != device { try put("receiver.device", device) }
    let family = facts.identity?.family ?? receiver?.family ?? .nmea
    // A profile that only listens is right with any receiver; it has the figures of one that does.
    let isKept = receiver?.family == family || receiver?.family == .nmea
    if !isKept || receiver == nil { try put("receiver.family", family.rawValue) }
    if let model = facts.identity?.name, receiver?.model == nil { try put("receiver.model", model) }
    guard let speed = facts.speed_baud.map({ Int($0) }) else { return }
    let known = receiver.map { [$0.lineSpeed_baud, $0.defaultLineSpeed_baud] } ?? []
    guard !known.contains(speed) else { return }
    let listens = (isKept ? receiver?.family ?? family : family) == .nmea
    if listens { try put("receiver.line_speed_baud", "\(speed)") }
    if !listens || receiver != nil { try put("receiver.default_line_speed_baud", "\(speed)") }
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
