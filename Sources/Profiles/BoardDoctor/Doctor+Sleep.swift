import BoardProfiles
import LinuxHAL
import LocationTypes

// Checks of sleep: capabilities of the kernel against the profile, and the events that wake the board.

extension Doctor {
  mutating func examineSleep() {
    let survey = SleepSurvey(root: files.root)
    let board = options.profile?.board
    facts.canSuspend = survey.mode != nil && survey.hasWakeupCount && survey.clock != nil
    examineStates(survey, suspends: board.map { $0.suspended != nil })
    examineAlarm(survey, isRequired: board?.suspended != nil || board?.off != nil)
    if board?.suspended?.wakeSources.contains(.bytes) == true { examineSerialWake() }
    examineTestSuspend(survey)
  }

  /// - Parameter suspends: Whether the profile suspends the board; nil without one.
  private mutating func examineStates(_ survey: SleepSurvey, suspends: Bool?) {
    guard let state = survey.mode, survey.hasWakeupCount else {
      let found =
        survey.mode == nil
        ? "the kernel cannot suspend this board (/sys/power/state)"
        : "the kernel does not count wakeup events (/sys/power/wakeup_count)"
      if suspends == true {
        return fail(
          "suspend", "\(found); the profile has [board.suspended]",
          suggestion:
            "remove [board.suspended] from the profile, so that the board idles instead, or use a kernel with "
            + "CONFIG_SUSPEND and CONFIG_PM_SLEEP")
      }
      return skip("suspend", "\(found); the board idles between events")
    }
    let hint =
      suspends == false
      ? "add [board.suspended] to use it; measure its power first (`torpor board new` has the keys)"
      : nil
    pass("suspend", "supported by the kernel: \(state)", hint: hint)
  }

  private mutating func examineAlarm(_ survey: SleepSurvey, isRequired: Bool) {
    guard let clock = survey.clock else {
      let found = "there is no clock that can wake the board (/sys/class/rtc)"
      guard isRequired else { return skip("alarm", found) }
      return fail(
        "alarm", "\(found), but the profile has a sleep state that needs one",
        suggestion:
          "connect and enable a real-time clock with an alarm (on a Raspberry Pi a dtoverlay, "
          + "i2c-rtc), or remove [board.suspended] and [board.off] from the profile")
    }
    guard survey.maySetAlarm else {
      let hint =
        "run it as root; the service needs CAP_WAKE_ALARM or write access to wakealarm of \(clock)"
      return skip("alarm", "\(clock) has an alarm, which this user may not set", hint: hint)
    }
    pass("alarm", "\(clock) has an alarm, which can be set")
  }

  private mutating func examineSerialWake() {
    guard let device = facts.device ?? options.line ?? options.profile?.receiver?.device else {
      return
    }
    guard files.exists(device), files.kindIfNotSerialLine(device) == nil else {
      return skip("wake by bytes", "'\(device)' is not an existing serial line, see above")
    }
    let name = LineHolders(of: device, files).device
    let path = "/sys/class/tty/\(name)/power/wakeup"
    guard !files.exists(path) else { return pass("wake by bytes", "\(name) can wake the board") }
    fail(
      "wake by bytes", "\(name) cannot wake the board: \(path) does not exist",
      suggestion:
        "remove \"bytes\" from wakes_on in [board.suspended], or make the port a wakeup-source in the "
        + "device tree")
  }

  private mutating func examineTestSuspend(_ survey: SleepSurvey) {
    guard let time = options.sleepTrial else {
      return skip("sleep", "not tested; --sleep suspends the board once for a few seconds")
    }
    do {
      switch try survey.trial(for: time) {
      case .suspended(let slept, let late):
        // An alarm has a resolution of one second.
        guard late < .seconds(-1) else {
          let text = late < .zero ? "on time" : "\(Doctor.durationText(late)) after its alarm"
          return pass("sleep", "suspended for \(Doctor.durationText(slept)), woken \(text)")
        }
        fail(
          "sleep",
          "suspended, but woken after \(Doctor.durationText(slept)) of "
            + "\(Doctor.durationText(time))",
          suggestion: "find the wakeup source in `dmesg` and /sys/kernel/debug/wakeup_sources")
      case .blocked(let why):
        fail(
          "sleep", "not suspended: \(why)",
          suggestion: "see the findings about suspend and alarm above"
        )
      }
    } catch {
      fail("sleep", "the test could not start", suggestion: "\(error)")
    }
  }
}
