import BoardProfiles
import LinuxHAL
import LocationTypes

// Sleep: what the kernel can, what the profile says, what would wake the board.

extension Doctor {
  mutating func examineSleep() {
    let survey = SleepSurvey(root: files.root)
    let board = options.profile?.board
    facts.canSuspend = survey.state != nil && survey.countsWakeups && survey.clock != nil
    examineStates(survey, wanted: board.map { $0.suspended != nil })
    examineAlarm(survey, isWanted: board?.suspended != nil || board?.off != nil)
    if board?.suspended?.wakesOn.contains(.bytes) == true { examineSerialWake() }
    examineTrial(survey)
  }

  /// - Parameter wanted: Whether the profile suspends the board; nil without one.
  private mutating func examineStates(_ survey: SleepSurvey, wanted: Bool?) {
    guard let state = survey.state, survey.countsWakeups else {
      let found =
        survey.state == nil
        ? "the kernel cannot suspend this board (/sys/power/state)"
        : "the kernel does not tell what comes on the way to sleep (/sys/power/wakeup_count)"
      if wanted == true {
        return fail(
          "suspend", "\(found); the profile has [board.suspended]",
          remedy:
            "take [board.suspended] out of the profile: the board then idles; or a kernel with "
            + "CONFIG_SUSPEND and CONFIG_PM_SLEEP")
      }
      return skip("suspend", "\(found): it idles between events")
    }
    let hint =
      wanted == false
      ? "[board.suspended] lets it; measure its power first (`torpor board new` has the keys)" : nil
    pass("suspend", "the kernel can: \(state)", hint: hint)
  }

  private mutating func examineAlarm(_ survey: SleepSurvey, isWanted: Bool) {
    guard let clock = survey.clock else {
      let found = "no clock that can wake the board (/sys/class/rtc)"
      guard isWanted else { return skip("alarm", found) }
      return fail(
        "alarm", "\(found); the profile has a sleep that needs one",
        remedy:
          "connect and enable a real-time clock with an alarm (on a Raspberry Pi a dtoverlay, "
          + "i2c-rtc), or take [board.suspended] and [board.off] out of the profile")
    }
    guard survey.maySetAlarm else {
      let remedy =
        "run it as root; the service needs CAP_WAKE_ALARM, or to write wakealarm of \(clock)"
      return skip("alarm", "\(clock) has one, which this user may not set", hint: remedy)
    }
    pass("alarm", "\(clock) has one, which can be set")
  }

  private mutating func examineSerialWake() {
    guard let device = facts.device ?? options.line ?? options.profile?.receiver?.device else {
      return
    }
    guard files.exists(device), files.notALine(device) == nil else {
      return skip("wake by bytes", "'\(device)' is no serial line that is there, see above")
    }
    let name = LineHolders(of: device, files).device
    let path = "/sys/class/tty/\(name)/power/wakeup"
    guard !files.exists(path) else { return pass("wake by bytes", "\(name) can wake the board") }
    fail(
      "wake by bytes", "\(name) has no switch for it (\(path))",
      remedy:
        "take \"bytes\" out of wakes_on in [board.suspended], or let the device tree make the "
        + "port a wakeup-source")
  }

  private mutating func examineTrial(_ survey: SleepSurvey) {
    guard let time = options.sleepTrial else {
      return skip("sleep", "not tried: --sleep suspends the board once for a few seconds")
    }
    do {
      switch try survey.trial(for: time) {
      case .slept(let slept, let late):
        // An alarm counts whole seconds.
        guard late < .seconds(-1) else {
          let text = late < .zero ? "in time" : "\(Doctor.text(late)) after its alarm"
          return pass("sleep", "suspended for \(Doctor.text(slept)), and back \(text)")
        }
        fail(
          "sleep", "suspended, but woken after \(Doctor.text(slept)) of \(Doctor.text(time))",
          remedy: "what woke it is in `dmesg`, and counted in /sys/kernel/debug/wakeup_sources")
      case .hindered(let why):
        fail(
          "sleep", "not suspended: \(why)", remedy: "see what is told of suspend and alarm above")
      }
    } catch {
      fail("sleep", "not tried", remedy: "\(error)")
    }
  }
}
