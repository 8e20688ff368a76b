import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Survey of a board's sleep", .tags(.realTime)) struct SleepSurveyTests {
  private let kernel = FakeKernel()
  private var survey: SleepSurvey { SleepSurvey(kernel.files, usesTimer: false) }
  private var timing: BoardSuspender.Timing {
    var timing = BoardSuspender.Timing()
    timing.minimumAlarmDistance = .milliseconds(20)
    timing.initialRetryDelay = .milliseconds(5)
    return timing
  }

  @Test("the survey reports the sleep mode, the clock and the blocker")
  func properties() {
    #expect(survey.mode == "mem (deep)" && survey.hasWakeupCount)
    #expect(survey.clock == "rtc0" && survey.maySetAlarm && survey.blocker == nil)
    kernel.make("/run/systemd/inhibit/1", "WHAT=sleep\nWHO=backup\nMODE=block\n")
    #expect(survey.blocker == .inhibited(by: "backup"))
    kernel.remove("/sys/class/rtc/rtc0/wakealarm")
    #expect(survey.clock == nil && !survey.maySetAlarm && survey.blocker == .noAlarm)
    kernel.remove("/sys/power/state")
    #expect(survey.mode == nil && survey.blocker == .suspendUnsupported)
    #expect(kernel.written.isEmpty, "the survey writes nothing")
  }

  @Test("a trial suspends the board once and reports whether its alarm woke it")
  func trial() throws {
    kernel.whileSuspended = { usleep(60_000) }
    let result = try survey.trial(
      for: .milliseconds(50), timing: timing, retryDelay: .milliseconds(10))
    guard case .suspended(let slept, let late) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(slept >= .milliseconds(60) && late >= .milliseconds(10))
    #expect(kernel.suspends == 1 && kernel.text("/sys/class/rtc/rtc0/wakealarm") == "")
  }

  @Test("PWR-9: an event during a trial causes a retry; a refusal is reported")
  func interrupted() throws {
    var isFirst = true
    kernel.before["wakeup_count"] = { [kernel] in
      if isFirst { kernel.wake() }
      isFirst = false
    }
    kernel.whileSuspended = { usleep(5_000) }
    let early = try survey.trial(
      for: .milliseconds(50), timing: timing, retryDelay: .milliseconds(10))
    guard case .suspended(_, let late) = early else {
      Issue.record("\(early)")
      return
    }
    #expect(late < .zero && kernel.suspends == 1)
    kernel.refuses["state"] = EIO
    #expect(
      try survey.trial(for: .milliseconds(50), timing: timing, retryDelay: .milliseconds(10))
        == .blocked(.refused(code: EIO)))
    kernel.make("/sys/power/state", "disk\n")
    #expect(
      try survey.trial(for: .milliseconds(50), timing: timing, retryDelay: .milliseconds(10))
        == .blocked(.suspendUnsupported))
  }
}
