import LocationPolicy
import LocationTypes
import LocationWire

@testable import LocationService

/// The client "tracker" of its own bench, with both of its connections.
struct Tracker {
  let bench: ServiceBench
  let control: Program
  let watch: Program
  let session: Int64

  /// Creates a client and makes these calls.
  ///
  /// - Parameter canIdle: Whether the receiver can sleep.
  init(_ calls: WireCall..., canIdle: Bool = true) throws {
    try self.init(on: ServiceBench(canIdle: canIdle))
    for each in calls { call(each) }
  }

  /// Creates a client of that bench.
  init(on bench: ServiceBench) {
    self.bench = bench
    (control, watch, session) = bench.client("tracker")
  }

  /// Makes a call and returns its reply.
  @discardableResult
  func call(_ call: WireCall) -> WireReply? { bench.call(call, control) }

  /// The notices since the last call, as short texts.
  func words() -> [String] { watch.words() }

  /// Advances the clock, with a fix each second while a client needs fixes, and returns their
  /// number. Otherwise the receiver's input is not read.
  @discardableResult
  func run(_ seconds: Int) -> Int {
    bench.loop.ignoresUnneededReceiver = true
    var count = 0
    for _ in 0..<seconds {
      if bench.isDemanding {
        bench.fix()
        count += 1
      } else {
        bench.pass(1)
      }
    }
    return count
  }

  /// The process ends.
  func quit() {
    watch.quit()
    control.quit()
    bench.settle()
  }
}

extension WireRegion {
  /// A circle of 150 m around the start of a bench's fixes; each second they are 11 m further
  /// north.
  static func home(_ name: String = "home") -> WireRegion {
    WireRegion(
      .region, name: name,
      center: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11), radius: 150)
  }
}

extension Program {
  /// The notices since the last call, as short texts.
  func words() -> [String] { notices().map(\.word) }
}

extension WireNotice {
  /// The kind of notice and its most important number.
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
