import BoardProfiles
import LinuxHAL
import LocationTypes

/// Looks at a board: whether the service could run on it as its profile says, and what is in the way.
///
/// Prints nothing. Each finding is told when it is made, for some take a minute. Nothing stays changed on
/// the board: a serial line that nobody uses is set to one speed after the other, and then as it was. What
/// is sent are questions, on a line that is named, and else only where a receiver is heard; its supply is
/// switched where ``Options/timesFix`` says so, and the board is suspended only for ``Options/sleepTrial``.
public struct Doctor {
  /// What is looked at.
  public struct Options {
    /// The board's profile; without one, or without a device in it, serial lines are listened to.
    public var profile: BoardProfile?
    /// Whether there is a profile that cannot be read: what depends on it is not checked.
    public var isProfileInvalid = false
    /// Whether the GPIO lines that the profile names are left alone.
    public var isUnwired = false
    /// The receiver's line, instead of the profile's.
    public var line: String?
    /// Where the service keeps its state.
    public var state = "/var/lib/torpor"
    /// Whether the receiver's supply is switched to see how long it needs.
    public var timesFix = true
    /// For how long the board is suspended once, at least 3 s; nil not to try it.
    public var sleepTrial: Interval?
    /// The longest that a fix is waited for.
    public var longestFix = Interval.seconds(90)

    /// Whether somebody wants it to end: asked some times a second while something is waited for.
    public var isStopped: () -> Bool = { false }

    /// Looks at all of it.
    public init() {}
  }

  /// What was found, as far as a profile can say it.
  public struct Facts: Equatable, Sendable {
    /// What the board calls itself.
    public var model: String?
    /// The line a receiver was heard on, as profiles name it.
    public var device: String?
    /// The speed at which it was heard.
    public var speed_baud: UInt32?
    /// What it says it is.
    public var identity: ReceiverIdentity?
    /// A gauge of the kernel's.
    public var gauge: String?
    /// How long the first fix took after a cold or warm start of its supply.
    public var timeToFix: Interval?
    /// Keys of the profile that name GPIO lines which are not there.
    public var missingLines: [String] = []
    /// Whether the kernel can suspend the board; nil where that was not looked at.
    public var canSuspend: Bool?
  }

  let options: Options
  /// The profile as it was given: ``options`` has none of the lines that are to be left alone.
  let given: BoardProfile?
  /// GPIO lines of the profile that somebody wants to be left alone, by what they are and their name.
  let leftAlone: [String]
  /// Whether the board is compared with a profile.
  public var hasProfile: Bool { options.profile != nil }
  let files: BoardFiles
  let pins: LinePins
  let pace: ReceiverHunt.Pace
  private let tell: (Finding) -> Void

  /// What was found so far.
  public private(set) var findings: [Finding] = []
  /// What frees the first line that is looked at without being named, and that others use.
  var takenRemedy: String?
  /// The same as a profile needs it.
  public internal(set) var facts = Facts()

  /// Creates one that has not looked yet.
  ///
  /// - Parameters:
  ///   - files: Where the system is.
  ///   - pins: The GPIO lines; the kernel's, if nothing else is said.
  ///   - tell: Called with each finding.
  public init(
    _ options: Options, files: BoardFiles = BoardFiles(), pins: LinePins? = nil,
    tell: @escaping (Finding) -> Void = { _ in }
  ) {
    self.init(options, files: files, pins: pins, pace: ReceiverHunt.Pace(), tell: tell)
  }

  init(
    _ options: Options, files: BoardFiles, pins: LinePins?, pace: ReceiverHunt.Pace,
    tell: @escaping (Finding) -> Void = { _ in }
  ) {
    given = options.profile
    var looked = options
    if options.isUnwired {
      leftAlone = options.profile?.gpioLines.map { "\($0.name) \($0.text)" } ?? []
      looked.profile = options.profile?.unwired
    } else {
      leftAlone = []
    }
    self.options = looked
    self.files = files
    self.pins = pins ?? .kernel(files)
    self.pace = pace
    self.tell = tell
  }

  /// Looks at everything, in this order: what later findings rest on comes first. It ends early where
  /// somebody wants it to.
  public mutating func examine() {
    examineBoard()
    examineService()
    examinePins()
    examineReceiver()
    guard !options.isStopped() else { return }
    examineSleep()
    examineBattery()
    examineState()
    examineRing()
  }

  mutating func add(_ finding: Finding) {
    findings.append(finding)
    tell(finding)
  }

  mutating func pass(_ name: String, _ found: String, hint: String? = nil) {
    add(Finding(name, .passed, found, remedy: hint))
  }

  mutating func fail(_ name: String, _ found: String, remedy: String) {
    add(Finding(name, .failed, found, remedy: remedy))
  }

  mutating func skip(_ name: String, _ why: String, hint: String? = nil) {
    add(Finding(name, .skipped, why, remedy: hint))
  }

  /// Skips a check that depends on a profile which cannot be read.
  ///
  /// - Returns: Whether it was skipped.
  mutating func skipWithoutProfile(_ name: String, hint: String? = nil) -> Bool {
    guard options.isProfileInvalid else { return false }
    skip(name, "not checked: the profile is not valid", hint: hint)
    return true
  }

  /// A length of time as people read it: `350 ms`, `4.2 s`.
  static func text(_ time: Interval) -> String {
    let milliseconds = max(0, time.microseconds / 1_000)
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    let tenths = (milliseconds + 50) / 100
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
