import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes

@testable import SimulatedHAL

/// Bytes received in a run, and the decoded messages.
struct ReceivedData {
  var messages: [GNSSMessage] = []
  var times: [Instant] = []
  var bytes: [UInt8] = []

  var solutions: [UBXSolution] {
    messages.compactMap { if case .navPVT(let s) = $0 { s } else { nil } }
  }
  var entries: [UBXBatchEntry] {
    messages.compactMap { if case .batchEntry(let e) = $0 { e } else { nil } }
  }
  var statuses: [UBXBatchStatus] {
    messages.compactMap { if case .batchStatus(let s) = $0 { s } else { nil } }
  }
  var acknowledged: [UBXIdentity] {
    messages.compactMap { if case .acknowledged(let i) = $0 { i } else { nil } }
  }
  var refused: [UBXIdentity] {
    messages.compactMap { if case .refused(let i) = $0 { i } else { nil } }
  }
  var fixes: [UBXSolution] { solutions.filter { $0.fixType == 3 } }
}

/// Waits in `state` and reads all input until `end`.
func receive(
  _ board: inout SimulatedBoard, until end: Instant, in state: BoardState = .idle
) -> ReceivedData {
  var received = ReceivedData()
  var decoder = GNSSDecoder()
  while board.now < end {
    _ = board.wait(in: state, until: end)
    drain(&board, &decoder, &received)
  }
  return received
}

func drain(
  _ board: inout SimulatedBoard, _ decoder: inout GNSSDecoder, _ received: inout ReceivedData
) {
  while let chunk = try? board.read(), chunk.count > 0 {
    let span = chunk.span
    for i in span.indices { received.bytes.append(span[i]) }
    var offset = 0
    while let message = decoder.next(span, &offset) {
      received.messages.append(message)
      received.times.append(board.now)
    }
  }
}

extension SimulatedBoard {
  /// Removes and returns the events since the last call.
  mutating func removeEvents() -> [TimedBoardEvent] {
    var removed: [TimedBoardEvent] = []
    removeEvents(into: &removed)
    return removed
  }

  /// A wait with `wakesOnInput`.
  mutating func wait(in state: BoardState, until deadline: Instant) -> WakeReport {
    wait(in: state, until: deadline, wakesOnInput: true)
  }

  /// Writes a frame.
  mutating func send(_ fill: (inout FrameBuffer) -> Void) {
    var frame = FrameBuffer()
    fill(&frame)
    do { try write(frame.span) } catch { preconditionFailure("the line accepts bytes: \(error)") }
  }

  mutating func configure(_ items: [(UInt32, UInt64)], layers: UBXLayers = .ram) {
    send { frame in
      var configuration = UBXConfiguration(layers: layers)
      for (key, value) in items { configuration.set(key, value) }
      frame.appendConfiguration(configuration)
    }
  }

  /// Enables NAV-PVT at 1 Hz and disables NMEA.
  mutating func configureUBX(layers: UBXLayers = .ram) {
    configure(
      [(ConfigurationKey.navPVT, 1), (ConfigurationKey.sendsNMEA, 0)], layers: layers)
  }
}

func seconds(_ value: Double) -> Instant { Instant(seconds: value) }

/// A straight track east at 10 m/s for `length` seconds, from the scenarios' position and time.
func straight(_ length: Int64 = 3_600) -> Track {
  let end = Scenario.home.moved(east: 10 * Double(length), north: 0)
  return Track(
    start: Scenario.start,
    points: [
      TrackPoint(offset: .zero, coordinate: Scenario.home, altitude_mm: 40_000),
      TrackPoint(offset: .seconds(length), coordinate: end, altitude_mm: 40_000),
    ], gapLimit: .unlimited)
}

/// A streaming UBX receiver at 38,400 baud that has a fix after 5 s.
func streaming(_ change: (inout SimulationSetup) -> Void = { _ in }) -> SimulationSetup {
  var setup = SimulationSetup()
  setup.receiver.family = .passive
  setup.receiver.timeToFirstFix = TimeToFix(afterOff: [], coldStart: .seconds(5))
  setup.recordsEvents = true
  change(&setup)
  return setup
}

/// An M10 at 38,400 baud that has a first fix after 10 s and later ones after 2 s.
func m10(_ change: (inout SimulationSetup) -> Void = { _ in }) -> SimulationSetup {
  var setup = SimulationSetup()
  setup.receiver.timeToFirstFix = TimeToFix(
    afterOff: [.init(off: .zero, fix: .seconds(2))], coldStart: .seconds(10))
  setup.recordsEvents = true
  change(&setup)
  return setup
}
