import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

/// What every delivery to a client needs besides its queue: the conversion of the engine's notices for the socket, and
/// the fixes that may have been lost before this run.
///
/// # Problem
///
/// The engine's notices refer to fixes in the ring, to regions by number, and to the boot clock; a client receives
/// fixes, names, and times of both clocks. Fixes wait in the ring and not here, so some may be overwritten before the
/// client reads them, and the client must receive a gap instead (RNG-4). The same holds for fixes that were lost in a
/// power cut: each client that may have had some receives one gap before any newer fix.
///
/// # Invariants
///
/// - Owner: ``LocationServer``. The possible loss is set once, at the start; whether a client has received it is in its
///   record (``ServedClient/mayHaveLostFixes``).
/// - Nothing here changes a client, a connection or the engine.
///
/// Bounded: a part of a batch holds ``WireLimits/fixesPerReply`` fixes.
struct Delivery {
  /// UTC minus boot clock, from the newest fix.
  private(set) var utcOffset = UTCOffset()
  /// Fixes that may have been lost before this run, in a power cut or with the ring's file; nil if none.
  private(set) var possibleLoss: Gap?
  /// Sequence number of the first fix of this run.
  private var start: UInt64 = 0

  /// Gaps that were reported to clients.
  private(set) var gaps = GapCount()

  /// Counts a gap that is reported to a client.
  mutating func count(_ gap: Gap) { gaps.add(gap) }

  /// Sets the fixes that may have been lost before this run, at its start.
  mutating func setPossibleLoss(_ loss: Gap?, before start: UInt64) {
    possibleLoss = loss
    self.start = start
  }

  /// Updates the UTC offset from a fix that was appended to the ring.
  mutating func didAppend(_ fix: Fix) { utcOffset.update(from: fix) }

  /// The gap of a possible loss that was not reported to a client yet; nil if there is none.
  func unreportedLoss(of client: ServedClient) -> Gap? {
    client.mayHaveLostFixes ? possibleLoss ?? Gap(unsyncedBefore: start, after: nil) : nil
  }

  /// Reads the next part of a batch from the ring: at most one reply with fixes, and the gap of fixes before them that
  /// were overwritten. `next` is the sequence number after the last fix.
  func part(
    ofBatchFrom first: UInt64, through last: UInt64, _ engine: borrowing Engine
  ) -> (gap: Gap?, fixes: [StoredFix], next: UInt64) {
    var next = first
    var stored = engine.stored(at: next)
    while next <= last, stored == nil {
      next += 1
      stored = engine.stored(at: next)
    }
    var gap: Gap?
    if next > first {
      gap = Gap(first..<next, from: nil, to: stored?.time)
    }
    // Collected before encoding, because a closure cannot borrow the engine.
    var fixes: [StoredFix] = []
    while next <= last, fixes.count < WireLimits.fixesPerReply, let fix = stored {
      fixes.append(fix)
      next += 1
      if next <= last { stored = engine.stored(at: next) }
    }
    return (gap, fixes, next)
  }

  /// A notice for the socket; nil if it is sent in another way, or not at all.
  func wire(_ notice: Notice, named names: RegionNames) -> WireNotice? {
    switch notice {
    case .gap(let gap): .gap(gap)
    case .finish(let code): .finished(code)
    case .batch: nil
    case .failure(let code): .failure(code)
    case .authorization(let authorization, let isReduced):
      .authorization(authorization, isReduced: isReduced)
    case .degraded(let levels): .degraded(levels)
    case .paused: .paused
    case .resumed: .resumed
    case .report(let fix): .report(fix)
    case .coarse(let fix): .fixes([fix])
    case .visit(let visit): .visit(visit)
    case .region(let event): .region(wire(event, named: names))
    case .live(let element): .live(element)
    // The server counts iterators itself and refuses an excess one in its call.
    case .liveRefused: nil
    }
  }

  /// An event of a region for the socket, with the region's name.
  func wire(_ event: RegionEvent, named names: RegionNames) -> WireRegionEvent {
    let offset = utcOffset
    return WireRegionEvent(event, name: names.name(of: event.identifier), utc: offset.utc)
  }
}

extension Notice {
  /// Whether the notice reveals where the board was.
  var revealsLocation: Bool {
    switch self {
    case .batch, .report, .coarse, .visit, .region, .live: true
    case .gap, .finish, .failure, .authorization, .degraded, .paused, .resumed, .liveRefused: false
    }
  }
}
