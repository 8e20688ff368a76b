import Glibc
import TextFormats

// A measurement, not a check: the cost of torpord on the virtual board while a client starts and stops updates, for
// comparison with the simulator's figures of the same schedule (Docs/HowTo/virtual-board.md).

/// A client that starts updates every two minutes and stops them one minute later.
struct StartsOnBoard {
  var starts = 30
  /// Seconds from one start to the next; updates run for half of it.
  var period = 120.0
  /// Path for the kernel's trace of the service's waits; nil for no trace.
  var tracePath: String?

  /// Seconds after the service's start before which it does not suspend without a deadline
  /// (`BoardSuspender.Timing.startupTime`).
  private static let startTime = 125.0

  /// Counters at one time.
  struct Counts {
    /// Number of blocking waits of the service that ended.
    var wakes = 0
    /// Number of completed suspends to RAM, by QEMU's events.
    var suspends = 0
    /// Boot clock in microseconds.
    var boot = 0
    var monotonic = 0
    /// Processor time of the service in nanoseconds.
    var processor_ns = 0
    /// Number of voluntary context switches of the service's main thread.
    var switches = 0
    /// Milliseconds suspended, as the service reports.
    var reportedSuspended = 0
  }

  /// Runs the schedule on an otherwise idle board; returns one line of JSON.
  func run(on bench: Bench) throws -> String {
    bench.limit(to: StartsOnBoard.startTime + period * Double(starts) + 300)
    var setup = Bench.BoardSetup(canSuspend: true)
    setup.edits = [
      ("wakes_on = [\"alarm\", \"bytes\"]", "wakes_on = [\"alarm\", \"bytes\", \"motion\"]")
    ]
    try bench.start(setup)
    bench.followsBatchPin = false
    let client = try bench.client("starts")
    for line in ["background", "acknowledge"] { try client.execute(line) }
    try bench.advance(StartsOnBoard.startTime)
    if tracePath != nil { try bench.shell(Self.traceCommand) }
    // After a request at this time the board suspends.
    try send(["wakes"], client, bench)
    try bench.wait("the board is suspended", within: 10) { bench.isSuspended }
    let begin = HostClock.now + 1
    try bench.advance(until: begin)
    let before = try counts(bench, client, then: ["start"])
    for number in 0..<starts {
      let start = begin + period * Double(number)
      let fixes = client.received.count
      if number > 0 {
        try bench.advance(until: start)
        try send(["start"], client, bench)
      }
      printLine(
        "start \(number): requested \(rounded(HostClock.now - start)) s after its alarm",
        to: STDERR_FILENO)
      try bench.advance(until: start + period / 2)
      try client.execute("stop")
      printLine("start \(number): \(client.received.count - fixes) fixes", to: STDERR_FILENO)
    }
    try bench.advance(until: begin + period * Double(starts))
    let after = try counts(bench, client)
    if let tracePath { try save(bench, to: tracePath) }
    return line(before, after, fixes: client.received.count)
  }

  /// Wakes the board, as an alarm of the client would, and sends the client's requests. Wakes it again if it
  /// suspends before all requests are completed.
  private func send(_ lines: [String], _ client: GuestClient, _ bench: Bench) throws {
    bench.wakeUp()
    for line in lines { client.send(line) }
    try bench.wait("the client completes \(lines)", within: 10) {
      bench.wakeUp()
      return client.isIdle
    }
  }

  /// The counters, read before the client sends further requests.
  ///
  /// The kernel's counters come first, because they need no request to the service. After a wake by another
  /// source the service keeps the board awake for a while, but suspends it again right after a reply to a request.
  private func counts(
    _ bench: Bench, _ client: GuestClient, then lines: [String] = []
  ) throws -> Counts {
    bench.wakeUp()
    var counts = Counts()
    let output = try bench.shell(
      "cut -d ' ' -f 1 /proc/$torpord/schedstat; "
        + "sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' /proc/$torpord/status")
    let numbers = output.split(separator: "\n").map { Int($0) ?? 0 }
    guard numbers.count == 2 else { throw Failure("the guest's kernel reports '\(output)'") }
    (counts.processor_ns, counts.switches) = (numbers[0], numbers[1])
    counts.suspends = bench.suspends
    try send(["clocks", "wakes"] + lines, client, bench)
    guard client.wakes.count > 9 else {
      throw Failure("the service does not report its number of wakes")
    }
    counts.reportedSuspended = client.wakes[7]
    counts.wakes = client.wakes[9]
    (counts.boot, counts.monotonic) = client.clocks
    return counts
  }

  private func line(_ a: Counts, _ b: Counts, fixes: Int) -> String {
    let duration = Double(b.boot - a.boot) / 1e6
    let suspended = duration - Double(b.monotonic - a.monotonic) / 1e6
    // The query at the end is also a wake.
    return "{\"wakes\":\(b.wakes - a.wakes - 1),\"suspended_s\":\(rounded(suspended)),"
      + "\"not_suspended_s\":\(rounded(duration - suspended)),"
      + "\"processor_s\":\(rounded(Double(b.processor_ns - a.processor_ns) / 1e9)),\"fixes\":\(fixes),"
      + "\"starts\":\(starts),\"duration_s\":\(rounded(duration)),\"suspends\":\(b.suspends - a.suspends),"
      + "\"context_switches\":\(b.switches - a.switches),"
      + "\"suspended_reported_s\":\(rounded(Double(b.reportedSuspended - a.reportedSuspended) / 1_000))}"
  }

  // MARK: The kernel's trace

  /// Traces waits, sleeps and suspends of the service's main thread, by the boot clock.
  private static let traceCommand =
    "t=/sys/kernel/tracing/instances/waits; mkdir $t; echo boot > $t/trace_clock; "
    + "echo 24576 > $t/buffer_size_kb; echo $torpord > $t/set_event_pid; "
    + "for e in syscalls/sys_enter_epoll_pwait2 syscalls/sys_exit_epoll_pwait2 syscalls/sys_enter_write "
    + "syscalls/sys_exit_write syscalls/sys_enter_read syscalls/sys_exit_read power/suspend_resume "
    + "sched/sched_switch; do [ ! -d $t/events/$e ] || echo 1 > $t/events/$e/enable; done"

  private func save(_ bench: Bench, to path: String) throws {
    // Kill the service, so that the board is not suspended while the trace is read.
    let result = bench.sendCommand(
      "kill -9 $torpord; t=/sys/kernel/tracing/instances/waits; echo 0 > $t/tracing_on; cat $t/trace"
    )
    try bench.wait("the kernel's trace", within: 300) {
      bench.wakeUp()
      return result.code != nil
    }
    let text = result.lines.joined(separator: "\n")
    let code = TextFile.replace(path, with: Array((text + "\n").utf8), for: .all)
    guard code == 0 else { throw Failure("'\(path)' cannot be written: errno \(code)") }
  }

  private func rounded(_ value: Double) -> String { "\((value * 1_000).rounded() / 1_000)" }
}
