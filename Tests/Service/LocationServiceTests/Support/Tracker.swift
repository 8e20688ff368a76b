import LocationPolicy
import LocationTypes
import LocationWire

@testable import LocationService

/// The client "tracker" of a bench of its own, with both of its connections.
struct Tracker {
  let bench: ServiceBench
  let control: Program
  let watch: Program
  let session: Int64

  /// A client that has made these calls.
  ///
  /// - Parameter canIdle: The receiver can be put to rest.
  init(_ calls: WireCall..., canIdle: Bool = true) throws {
    try self.init(on: ServiceBench(canIdle: canIdle))
    for call in calls { ask(call) }
  }

  /// A client of that bench.
  init(on bench: ServiceBench) {
    self.bench = bench
    (control, watch, session) = bench.client("tracker")
  }

  /// The answer to a call.
  @discardableResult
  func ask(_ call: WireCall) -> WireReply? { bench.ask(call, control) }

  /// The notices that have come since the last look, in a word each.
  func words() -> [String] { watch.words() }

  /// Seconds pass, with a fix each as long as a client needs fixes; gives their number. While none does, the
  /// receiver is not listened to.
  @discardableResult
  func run(_ seconds: Int) -> Int {
    bench.loop.ignoresUnneededReceiver = true
    var made = 0
    for _ in 0..<seconds {
      if bench.isDemanding {
        bench.fix()
        made += 1
      } else {
        bench.pass(1)
      }
    }
    return made
  }

  /// The process ends.
  func quit() {
    watch.quit()
    control.quit()
    bench.settle()
  }
}

extension WireRegion {
  /// A circle of 150 m around the place where the fixes of a bench begin; each second they are 11 m further north.
  static func home(_ name: String = "home") -> WireRegion {
    WireRegion(
      .region, name: name,
      center: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11), radius: 150)
  }
}

extension Program {
  /// The notices that have come since the last look, in a word each.
  func words() -> [String] { notices().map(\.word) }
}

extension WireNotice {
  /// What it is, with the number that matters most.
  var word: String {
    switch self {
    case .fixes(let fixes): "fixes \(fixes.count)"
    case .gap(let gap): "gap \(gap.count)"
    case .finished(let code): "finished \(code?.rawValue ?? -1)"
    case .region(let event, _):
      switch event.change {
      case .entered: "entered"
      case .exited: "exited"
      case .determined(let state): "determined \(state.rawValue)"
      case .monitor, .failed: "other"
      }
    case .visit(let visit, _): visit.departure == nil ? "arrived" : "departed"
    default: "other"
    }
  }
}
