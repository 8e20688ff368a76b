import Glibc

// A figure, not a check: what torpord costs on the virtual board while a client starts and stops updates, to be
// compared with the simulator's figures for the same times (Docs/HowTo/virtual-board.md).

/// A client that starts updates every two minutes and stops them a minute later.
struct StartsOnBoard {
  var starts = 30
  /// Seconds from one start to the next; updates run for half of it.
  var period = 120.0
  /// Where the kernel's record of the service's waits goes; nil for no record.
  var record: String?

  /// No suspend without a deadline is earlier after the service's start (`BoardSuspender.Pace.startTime`).
  private static let startTime = 125.0

  /// What has been counted up to a moment.
  struct Counts {
    /// Blocking waits of the service that ended.
    var wakes = 0
    /// Suspends to RAM that are over, by QEMU's events.
    var suspends = 0
    /// Microseconds.
    var boot = 0
    var monotonic = 0
    /// Nanoseconds of processor time of the service.
    var processor = 0
    /// Times that the service's main thread gave the processor up by itself.
    var switches = 0
    /// Milliseconds suspended, as the service reports.
    var reportedSuspended = 0
  }

  /// Runs it on a board that has nothing else to do, and gives one line of JSON.
  func run(on bench: Bench) throws -> String {
    bench.limit(to: StartsOnBoard.startTime + period * Double(starts) + 300)
    var wish = Bench.Wish(suspends: true)
    wish.edits = [
      ("wakes_on = [\"alarm\", \"bytes\"]", "wakes_on = [\"alarm\", \"bytes\", \"motion\"]")
    ]
    try bench.start(wish)
    bench.followsBatchPin = false
    let client = try bench.client("starts")
    for line in ["background", "acknowledge"] { try client.say(line) }
    try bench.pass(StartsOnBoard.startTime)
    if record != nil { try bench.shell(Self.recording) }
    // A wait that is asked for now is one that suspends.
    try ask(["wakes"], client, bench)
    try bench.wait("the board is suspended", within: 10) { bench.isSuspended }
    let begin = Clock.now + 1
    try bench.pass(until: begin)
    let before = try counts(bench, client, then: ["start"])
    for number in 0..<starts {
      let start = begin + period * Double(number)
      let fixes = client.told.count
      if number > 0 {
        try bench.pass(until: start)
        try ask(["start"], client, bench)
      }
      note("start \(number): asked for \(digits(Clock.now - start)) s after its alarm")
      try bench.pass(until: start + period / 2)
      try client.say("stop")
      note("start \(number): \(client.told.count - fixes) fixes")
    }
    try bench.pass(until: begin + period * Double(starts))
    let after = try counts(bench, client)
    if let record { try save(bench, to: record) }
    return line(before, after, fixes: client.told.count)
  }

  /// Wakes the board, as an alarm of the client's own would, and has the client ask. It is woken again where it
  /// suspends before the client has all its answers.
  private func ask(_ lines: [String], _ client: GuestClient, _ bench: Bench) throws {
    bench.wakeUp()
    for line in lines { client.murmur(line) }
    try bench.wait("the client has its answers to \(lines)", within: 10) {
      bench.wakeUp()
      return client.isQuiet
    }
  }

  /// What has been counted, read before the client asks for something else.
  ///
  /// The kernel's counts come first: they need nothing of the service, which leaves a board that was woken by
  /// somebody else awake for a while, and suspends it again as soon as it has answered a request.
  private func counts(
    _ bench: Bench, _ client: GuestClient, then lines: [String] = []
  ) throws -> Counts {
    bench.wakeUp()
    var counts = Counts()
    let told = try bench.shell(
      "cut -d ' ' -f 1 /proc/$torpord/schedstat; "
        + "sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' /proc/$torpord/status")
    let numbers = told.split(separator: "\n").map { Int($0) ?? 0 }
    guard numbers.count == 2 else { throw Failure("the guest's kernel says '\(told)'") }
    (counts.processor, counts.switches) = (numbers[0], numbers[1])
    counts.suspends = bench.suspends
    try ask(["clocks", "wakes"] + lines, client, bench)
    guard client.wakes.count > 9 else {
      throw Failure("the service does not say how often it was woken")
    }
    counts.reportedSuspended = client.wakes[7]
    counts.wakes = client.wakes[9]
    (counts.boot, counts.monotonic) = client.clocks
    return counts
  }

  private func line(_ a: Counts, _ b: Counts, fixes: Int) -> String {
    let duration = Double(b.boot - a.boot) / 1e6
    let suspended = duration - Double(b.monotonic - a.monotonic) / 1e6
    // That it is asked at the end is a wake, too.
    return "{\"wakes\":\(b.wakes - a.wakes - 1),\"suspended_s\":\(digits(suspended)),"
      + "\"not_suspended_s\":\(digits(duration - suspended)),"
      + "\"processor_s\":\(digits(Double(b.processor - a.processor) / 1e9)),\"fixes\":\(fixes),"
      + "\"starts\":\(starts),\"duration_s\":\(digits(duration)),\"suspends\":\(b.suspends - a.suspends),"
      + "\"context_switches\":\(b.switches - a.switches),"
      + "\"suspended_reported_s\":\(digits(Double(b.reportedSuspended - a.reportedSuspended) / 1_000))}"
  }

  // MARK: The kernel's record

  /// Waits, sleeps and suspends of the service's main thread, by the boot clock.
  private static let recording =
    "t=/sys/kernel/tracing/instances/waits; mkdir $t; echo boot > $t/trace_clock; "
    + "echo 24576 > $t/buffer_size_kb; echo $torpord > $t/set_event_pid; "
    + "for e in syscalls/sys_enter_epoll_pwait2 syscalls/sys_exit_epoll_pwait2 syscalls/sys_enter_write "
    + "syscalls/sys_exit_write syscalls/sys_enter_read syscalls/sys_exit_read power/suspend_resume "
    + "sched/sched_switch; do [ ! -d $t/events/$e ] || echo 1 > $t/events/$e/enable; done"

  private func save(_ bench: Bench, to path: String) throws {
    // Without the service nobody suspends the board while it is read.
    let answer = bench.tell(
      "kill -9 $torpord; t=/sys/kernel/tracing/instances/waits; echo 0 > $t/tracing_on; cat $t/trace"
    )
    try bench.wait("the kernel's record", within: 300) {
      bench.wakeUp()
      return answer.code != nil
    }
    let text = answer.lines.joined(separator: "\n")
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Failure("'\(path)' cannot be written: errno \(errno)") }
    defer { close(descriptor) }
    var rest = Array((text + "\n").utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw Failure("'\(path)' cannot be written: errno \(errno)") }
      rest = rest.dropFirst(count)
    }
  }

  private func digits(_ value: Double) -> String { "\((value * 1_000).rounded() / 1_000)" }

  /// Progress, beside the figures.
  private func note(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
  }
}
