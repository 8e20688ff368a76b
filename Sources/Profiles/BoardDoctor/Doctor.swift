import BoardProfiles
import LinuxHAL
import LocationTypes

/// Checks whether the service can run on a board as its profile says, and reports what prevents it.
///
/// Prints nothing; calls a closure with each finding as soon as it is complete, because some checks need a minute.
/// Leaves the board unchanged: it sets an unused serial line to one speed after another, and restores it afterwards.
/// It sends queries on a specified line, and on other lines only after it received fixes. It switches the receiver's
/// supply only if ``Options/measuresTimeToFix`` is set, and suspends the board only if
/// ``Options/sleepTrial`` is set.
public struct Doctor {
  /// Which checks are made, and how.
  public struct Options {
    /// Profile of the board. Without a profile, or without a device in it, serial lines are scanned.
    public var profile: BoardProfile?
    /// Whether the profile is invalid, so that checks that depend on it are skipped.
    public var isProfileInvalid = false
    /// Whether the GPIO lines of the profile are excluded.
    public var excludesGPIO = false
    /// Serial line of the receiver; overrides the profile.
    public var line: String?
    /// State folder of the service.
    public var state = "/var/lib/torpor"
    /// Whether the time to first fix is measured by switching the receiver's supply.
    public var measuresTimeToFix = true
    /// Duration of one test suspend, at least 3 s; nil to skip the test.
    public var sleepTrial: Interval?
    /// Timeout for the first fix.
    public var fixTimeout = Interval.seconds(90)

    /// The feed of the system clock as a running service reports it; nil if none answers, or if it feeds no clock.
    public var clock: ClockReport?
    /// Whether a running service feeds no clock because it was started so.
    public var servesWithoutClock = false

    /// Whether the checks should stop; called several times a second while a check waits.
    public var isStopped: () -> Bool = { false }

    /// Creates options with the default values.
    public init() {}
  }

  /// Findings that a profile can contain.
  public struct Facts: Equatable, Sendable {
    /// Model name of the board.
    public var model: String?
    /// Serial device on which a receiver was detected, as profiles name it.
    public var device: String?
    /// Line speed at which the receiver was detected.
    public var speed_baud: UInt32?
    /// Identity that the receiver reports.
    public var identity: ReceiverIdentity?
    /// Name of the first battery gauge of the kernel.
    public var gauge: String?
    /// Time to first fix after the supply was switched on, cold or warm.
    public var timeToFix: Interval?
    /// Paths of the profile keys that name GPIO lines which do not exist.
    public var missingLines: [String] = []
    /// Whether the kernel can suspend the board; nil if not checked.
    public var canSuspend: Bool?
  }

  let options: Options
  /// The unmodified profile; the one in ``options`` lacks excluded lines.
  let originalProfile: BoardProfile?
  /// Excluded GPIO lines of the profile: key and line of each.
  let excludedLines: [String]
  /// Whether the board is checked against a profile.
  public var hasProfile: Bool { options.profile != nil }
  let files: BoardFiles
  let gpio: GPIOAccess
  let timeouts: ReceiverScan.Timeouts
  private let onFinding: (Finding) -> Void

  /// Findings so far.
  public private(set) var findings: [Finding] = []
  /// How to free the first scanned line that other programs use.
  var lineInUseSuggestion: String?
  /// Findings so far that a profile can contain.
  public internal(set) var facts = Facts()

  /// Creates a doctor without running any check.
  ///
  /// - Parameters:
  ///   - files: Files of the system.
  ///   - gpio: Access to GPIO lines; nil for those of the kernel.
  ///   - onFinding: Closure that is called with each finding.
  public init(
    _ options: Options, files: BoardFiles = BoardFiles(), gpio: GPIOAccess? = nil,
    onFinding: @escaping (Finding) -> Void = { _ in }
  ) {
    self.init(
      options, files: files, gpio: gpio, timeouts: ReceiverScan.Timeouts(), onFinding: onFinding)
  }

  init(
    _ options: Options, files: BoardFiles, gpio: GPIOAccess?, timeouts: ReceiverScan.Timeouts,
    onFinding: @escaping (Finding) -> Void = { _ in }
  ) {
    originalProfile = options.profile
    var checkedOptions = options
    if options.excludesGPIO {
      excludedLines = options.profile?.gpioLines.map { "\($0.name) \($0.text)" } ?? []
      checkedOptions.profile = options.profile?.withoutGPIOLines
    } else {
      excludedLines = []
    }
    self.options = checkedOptions
    self.files = files
    self.gpio = gpio ?? .kernel(files)
    self.timeouts = timeouts
    self.onFinding = onFinding
  }

  /// Runs all checks. A check precedes those that depend on it. Returns early if ``Options/isStopped`` is true.
  public mutating func examine() {
    examineBoard()
    examineService()
    examineGPSDPort()
    examineGPIO()
    examineReceiver()
    guard !options.isStopped() else { return }
    examineSleep()
    examineBattery()
    examineClock()
    examineState()
    examineRing()
  }

  mutating func add(_ finding: Finding) {
    findings.append(finding)
    onFinding(finding)
  }

  mutating func pass(_ name: String, _ found: String, hint: String? = nil) {
    add(Finding(name, .passed, found, suggestion: hint))
  }

  mutating func fail(_ name: String, _ found: String, suggestion: String) {
    add(Finding(name, .failed, found, suggestion: suggestion))
  }

  mutating func skip(_ name: String, _ why: String, hint: String? = nil) {
    add(Finding(name, .skipped, why, suggestion: hint))
  }

  /// Skips a check that needs a valid profile if the profile is invalid.
  ///
  /// - Returns: Whether the check was skipped.
  mutating func skipWithoutProfile(_ name: String, hint: String? = nil) -> Bool {
    guard options.isProfileInvalid else { return false }
    skip(name, "not checked: the profile is not valid", hint: hint)
    return true
  }

  /// A duration for display: `350 ms`, `4.2 s`.
  static func durationText(_ time: Interval) -> String {
    let milliseconds = max(0, time.microseconds / 1_000)
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    let tenths = (milliseconds + 50) / 100
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
