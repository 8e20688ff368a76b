import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import torpor

@Suite("The screen of torpor monitor")
struct ScreenTests {
  private func rows(_ line: String, _ columns: Int) -> [String] {
    ScreenLine(line).wrapped(to: columns)
  }

  @Test("a line wider than the terminal is wrapped at a word, without loss of text")
  func wrapped() {
    #expect(rows("receiver off", 12) == ["receiver off"])
    #expect(rows("receiver off", 11) == ["receiver", "off"])
    #expect(rows("größer", 4) == ["größ", "er"])
    #expect(rows("", 4) == [""] && rows("x", 0) == [""])
    let message = "no service at '/run/torpor/torpor.sock': start it: sudo systemctl start torpord"
    let output = rows(message, 40)
    #expect(output.count > 1 && output.allSatisfy { $0.count <= 40 })
    #expect(output.joined(separator: " ") == message)
  }

  @Test("wrapped values are indented below the value, if the terminal is wide enough")
  func hanging() {
    let line = "plan      tracking as it is made; for bird, trail-log"
    #expect(
      rows(line, 30) == [
        "plan      tracking as it is", "          made; for bird,", "          trail-log",
      ])
    #expect(rows(line, 20)[1].first != " ")
    let word = "plan      " + String(repeating: "x", count: 40)
    #expect(rows(word, 30).map(\.count) == [30, 30])
  }

  @Test("colours have no width, end with their row and are restored in the next")
  func coloured() {
    let (bold, end) = ("\u{1B}[1m", "\u{1B}[0m")
    #expect(rows("\(bold)receiver\(end)  off", 80) == ["\(bold)receiver\(end)  off"])
    #expect(rows("\(bold)no receiver\(end)", 8) == ["\(bold)no\(end)", "\(bold)receiver\(end)"])
  }

  @Test("a low terminal shows the first lines and the number of hidden lines")
  func rows() {
    let lines = (1...5).map { "line \($0)" }
    let all = Screen.frame(lines, Screen.Size(columns: 80, rows: 5))
    #expect(all.hasPrefix("\u{1B}[Hline 1\u{1B}[K\r\n") && all.hasSuffix("line 5\u{1B}[K\u{1B}[J"))
    let low = Screen.frame(lines, Screen.Size(columns: 80, rows: 3))
    #expect(low.hasSuffix("line 2\u{1B}[K\r\n… 3 more lines\u{1B}[K\u{1B}[J"))
    #expect(Screen.frame(lines, Screen.Size(columns: 3, rows: 1)) == "\u{1B}[H… 5\u{1B}[K\u{1B}[J")
    // Each wrapped line uses several rows.
    let wrapped = Screen.frame(lines, Screen.Size(columns: 4, rows: 5))
    #expect(
      wrapped
        == "\u{1B}[Hline\u{1B}[K\r\n1\u{1B}[K\r\nline\u{1B}[K\r\n2\u{1B}[K\r\n… 3 \u{1B}[K\u{1B}[J")
  }
}

@Suite("The service's status as text")
struct StatusTextTests {
  private func text(_ change: (inout WireStatus) -> Void) -> String {
    let now = FixTime(
      acquired: .boot + .seconds(7_200), utc: UTCTime(microseconds: 1_767_225_600_000_000))
    var status = WireStatus(
      version: "0.1", board: "a-board", now: now, generation: 1, nextSequence: 5_000,
      ringCapacity: 4_096, clients: 2)
    change(&status)
    return StatusText(status, style: Style(isColoured: false)).lines.joined(separator: "\n")
  }

  private func time(_ seconds: Int64) -> FixTime {
    FixTime(acquired: .boot + .seconds(7_200 + seconds), utc: nil)
  }

  @Test("the status shows receiver, plan, board and newest fix")
  func facts() {
    let output = text { status in
      status.receiver = WireReceiver(
        .batching, isAnswering: true, since: time(-90), lastByte: time(-60))
      status.plan = WirePlan(
        Plan(
          receiver: .batching(watermark: 250), board: .suspended, wake: .boot + .seconds(7_290),
          wakesOnInput: false))
      status.newest = time(-61)
      status.ringFixes = 4_000
    }
    #expect(output.contains("service   torpord 0.1 on a-board, 2026-01-01 00:00:00 UTC"))
    #expect(output.contains("buffering in the receiver, for 1 min 30 s; no fix yet"))
    #expect(output.contains("receiver buffers 250 fixes, then reports them"))
    #expect(
      output.contains("suspended between events, until 2026-01-01 00:01:30 UTC (in 1 min 30 s)"))
    #expect(output.contains("4,000 of 4,096 slots used, newest fix 1 min 1 s ago"))
  }

  @Test("the receiver's line shows whether and when it had a fix")
  func searching() {
    func output(_ state: WireReceiverState, _ fixed: FixTime?) -> String {
      text {
        $0.receiver = WireReceiver(
          state, isAnswering: true, since: time(-14), lastByte: time(0), lastFix: fixed)
      }
    }
    #expect(
      output(.acquiring, nil).contains("searching for a fix, for 14 s; no fix yet; last data now"))
    #expect(
      output(.acquiring, time(-120))
        .contains("searching for a fix, for 14 s; last fix 2 min ago; last data now"))
    #expect(output(.starting, nil).contains("starting, for 14 s; no fix yet"))
    #expect(
      output(.batching, nil)
        .contains(
          "buffering in the receiver, for 14 s; no fix yet: new fixes stay in its buffer until the buffer is read"
        ))
    #expect(
      output(.batching, time(-180))
        .contains("; last fix 2025-12-31 23:57:00 UTC, 3 min ago, newer ones are in its buffer"))
    let later = text {
      $0.now.utc = $0.now.utc.map { $0 + .seconds(3_600) }
      $0.receiver = WireReceiver(
        .batching, isAnswering: true, since: time(-14), lastByte: time(0), lastFix: time(-180))
    }
    #expect(later.contains("; last fix 00:57:00 UTC, 3 min ago, newer ones are in its buffer"))
    #expect(output(.tracking, time(-1)).contains("tracking, for 14 s; last data now"))
  }

  @Test("before the date is known, times are relative")
  func undated() {
    let now = FixTime(acquired: .boot + .seconds(7_200), utc: nil)
    func output(_ wake: Instant) -> String {
      var status = WireStatus(
        version: "0.1", board: "a-board", now: now, generation: 1, nextSequence: 0,
        ringCapacity: 8, clients: 0)
      status.plan = WirePlan(
        Plan(receiver: .tracking, board: .idle, wake: wake, wakesOnInput: false))
      return StatusText(status, style: Style(isColoured: false)).lines.joined(separator: "\n")
    }
    let far = output(now.acquired + .seconds(12))
    #expect(far.contains("a-board, no date before the first fix; the board booted 2 h ago\n"))
    #expect(far.contains("idle between events, for 12 s; receiver data does not wake it"))
    #expect(!far.contains("after boot"))
    #expect(output(now.acquired).contains("idle between events, for a moment; receiver data"))
  }

  @Test("a missing receiver is reported with a suggestion")
  func missing() {
    let output = text {
      $0.receiver = WireReceiver(.lost, isAnswering: false, since: time(-5))
      $0.receiver?.suggestion = "is it connected?"
    }
    #expect(output.contains("receiver  does not answer; no data yet: is it connected?"))
    let hidden = text {
      $0.nextSequence = nil
      $0.now = FixTime(acquired: $0.now.acquired, utc: nil)
      $0.receiver = WireReceiver(.standby, isAnswering: true, since: time(-5))
    }
    #expect(!hidden.contains("no data yet") && !hidden.contains("no date"), "AUT-9")
    let other = text {
      $0.receiver = WireReceiver(.lost, isAnswering: false, since: time(-5), lastByte: time(-2))
    }
    #expect(other.contains("does not answer; last data 2 s ago\n"))
    #expect(!output.contains("plan"), "AUT-9: no plan without permission")
    #expect(output.contains("fixes     4,096 slots\n"), "5,000 names are no slots")
    #expect(text { _ in }.contains("none: this board has no receiver"))
  }

  @Test("the plan names the clients that it serves")
  func reasons() {
    func output(_ receiver: ReceiverMode, _ names: [String]) -> String {
      text { status in
        status.plan = WirePlan(
          Plan(receiver: receiver, board: .idle, wake: .distantFuture, wakesOnInput: true))
        for name in names {
          var use = WireUse(WireClientName(user: 1_000, name: name), execution: nil)
          use.need = name == "idle" ? .nothing : .position
          status.uses.append(use)
        }
      }
    }
    #expect(
      output(.tracking, ["idle", "bird"]).contains("reports each fix immediately; for bird\n"))
    #expect(output(.standby, ["bird"]).contains("no client needs a fix now; next fix for bird\n"))
    #expect(output(.tracking, ["a", "b", "c", "d", "e"]).contains("; for a, b, c and 2 more\n"))
    #expect(output(.off, ["idle"]).contains("no client needs a fix now\n"))
  }

  @Test("the reasons why the board does not sleep deeper are listed in one line")
  func sleep() {
    #expect(!text { _ in }.contains("sleep "))
    let client = WireClientName(user: 1_000, name: "trail-log")
    let output = text {
      $0.holds = [
        WireHold(.acknowledgement, client: client), WireHold(.everyFix), WireHold(.noSuspend),
        WireHold(.receiverCannotSleep, detail: "no line"), WireHold(.system, detail: "a lock"),
        WireHold(.staysOn, detail: "no alarm"),
      ]
    }
    #expect(
      output.contains(
        "sleep     not suspended: trail-log has not acknowledged a delivery; "
          + "another user's program requests every fix immediately; "
          + "the board's profile has no suspended state; the receiver runs although no client needs it: "
          + "it cannot be put to sleep (no line); a lock; "
          + "the board could be powered off, but stays on: no alarm")
    )
    for reason in WireHoldReason.allCases {
      #expect(!StatusText.text(WireHold(reason)).contains("nil"))
    }
  }

  @Test("a board without a suspended state is reported as idle for any plan")
  func idle() {
    func output(_ holds: [WireHold]) -> String {
      text {
        $0.plan = WirePlan(
          Plan(receiver: .off, board: .suspended, wake: .distantFuture, wakesOnInput: false))
        $0.holds = holds
      }
    }
    #expect(output([]).contains("board     suspended between events, with no alarm set"))
    let idle = output([WireHold(.noSuspend)])
    #expect(idle.contains("board     idle between events, with no alarm set"))
    #expect(!idle.contains("suspended between events"))
  }

  @Test("clients with active requests are listed, and others are counted")
  func holders() {
    let output = text { status in
      var use = WireUse(WireClientName(user: 4_000_000, name: "trail-log"), execution: .background)
      use.services = [.updates, .deferredUpdates]
      use.need = .everyFixLater
      use.keepsReceiverOn = true
      use.next = time(600)
      status.demandingClients = 3
      status.uses = [use]
      status.batteryPercent = 9
      status.shed = ServiceLevelSet(.everyFix)
    }
    #expect(output.contains("2 connected; 3 clients with active requests (2 of other users)"))
    #expect(
      output.contains(
        "trail-log  4000000  background  updates, deferred  receiver     in 10 min"))
    #expect(output.contains("9 %; too low for every fix"))
  }
}
