import LocationTypes
import LocationWire

/// The deferrals that the service was asked for, until their finish; and the batch of a merged one.
///
/// # Problem
///
/// The service sends one finish for each call, in the order of the calls (DEF-8), but a finish does not name its call. This
/// queue says whose it is. The finish of a merged deferral belongs to no manager; its batch follows immediately, if there
/// is one, but may be read a little later, in notices that are full except the last one.
///
/// # States of a call
///
///     forwarded ──→ cancelled (the program ended it)
///         │
///         ↓ another manager runs
///      merged ────→ abandoned (it is replaced, or no longer required)
///
/// Each state ends with the finish. A part of ``MergedDemand``.
struct ServiceDeferrals: Sendable {
  /// Whose finish the service sends.
  enum Owner: Equatable, Sendable {
    case forwarded(MergedDemand.ManagerID, call: Int)
    /// A forwarded call that the program has ended: by a stop, `disallow…` or another call.
    case cancelled(MergedDemand.ManagerID)
    case merged
    /// Nobody's: a merged deferral that was cancelled.
    case abandoned

    /// Whether a call of that manager was forwarded.
    func isForwarded(by id: MergedDemand.ManagerID) -> Bool {
      if case .forwarded(id, _) = self { true } else { false }
    }
  }

  /// The end of a merged deferral, whose batch is arriving.
  private struct MergedEnd: Sendable {
    var code: LocationErrorCode?
    /// Until when the next part of its batch is waited for.
    var deadline: Instant
    /// Fixes that have arrived since.
    var count = 0
    /// Whether the last part of the batch has arrived.
    var isComplete: Bool { count % WireLimits.fixesPerReply != 0 }
  }

  /// How long the batch of a merged deferral is waited for: far longer than the service needs between two writes.
  private static let batchWait = Interval.milliseconds(100)
  /// How long after a timeout the end of the service's deferral is waited for: it is reported with its batch.
  private static let endWait = Interval.seconds(1)

  /// Calls whose finish is outstanding, oldest first.
  private var owners: [Owner] = []
  private var mergedEnd: MergedEnd?
  private var lastCall = 0

  /// The number of the next call.
  mutating func nextCall() -> Int {
    lastCall += 1
    return lastCall
  }

  // MARK: Calls

  /// A manager's call is forwarded.
  mutating func forward(_ id: MergedDemand.ManagerID, call: Int) {
    owners.append(.forwarded(id, call: call))
  }

  /// Whether a manager's call is forwarded.
  func isForwarded(by id: MergedDemand.ManagerID) -> Bool {
    owners.contains { $0.isForwarded(by: id) }
  }

  /// Drops the forwarded calls of a manager, because no service was asked for them.
  mutating func removeForwarded(by id: MergedDemand.ManagerID) {
    owners.removeAll { $0.isForwarded(by: id) }
  }

  /// Drops a forwarded call, because it ends without the service.
  mutating func removeForwarded(by id: MergedDemand.ManagerID, call: Int) {
    owners.removeAll { $0 == .forwarded(id, call: call) }
  }

  /// The program ends the forwarded calls of a manager; their finishes are still outstanding.
  mutating func cancel(by id: MergedDemand.ManagerID) {
    for i in owners.indices where owners[i].isForwarded(by: id) { owners[i] = .cancelled(id) }
  }

  /// Whether a merged deferral was asked for.
  var hasMerged: Bool { owners.contains(.merged) }

  /// Whether the newest call is a merged deferral.
  var endsWithMerged: Bool { owners.last == .merged }

  /// A merged deferral is asked for.
  mutating func merge() { owners.append(.merged) }

  /// A forwarded call becomes the merged one, because its manager does not run alone any more.
  mutating func mergeForwarded(by id: MergedDemand.ManagerID, call: Int) {
    for i in owners.indices where owners[i] == .forwarded(id, call: call) { owners[i] = .merged }
  }

  /// The merged deferral is replaced, or no longer required.
  mutating func abandonMerged() {
    for i in owners.indices where owners[i] == .merged { owners[i] = .abandoned }
  }

  // MARK: Connection

  /// Removes and returns all calls: their finishes will not come.
  mutating func consumeAll() -> [Owner] {
    defer { owners = [] }
    return owners
  }

  /// Keeps the calls in `kept`, for the next connection.
  mutating func disconnect(keeping kept: [Owner]) {
    owners = kept
    mergedEnd = nil
  }

  // MARK: Finishes

  /// Removes and returns the call that the next finish ends; nil if none is outstanding.
  mutating func consumeFinish() -> Owner? { owners.isEmpty ? nil : owners.removeFirst() }

  /// The merged deferral has ended; its batch is awaited.
  mutating func awaitBatch(_ code: LocationErrorCode?, at now: Instant) {
    mergedEnd = MergedEnd(code: code, deadline: now + ServiceDeferrals.batchWait)
  }

  /// Fixes have arrived, which may belong to the batch of a merged deferral.
  mutating func recordFixes(_ count: Int, at now: Instant) {
    mergedEnd?.count += count
    mergedEnd?.deadline = now + ServiceDeferrals.batchWait
  }

  /// Whether more of the batch of a merged deferral is awaited.
  func awaitsBatch(at now: Instant) -> Bool {
    guard let mergedEnd else { return false }
    return !mergedEnd.isComplete && now < mergedEnd.deadline
  }

  /// Until when the batch of a merged deferral is awaited; nil if none is.
  var batchDeadline: Instant? { mergedEnd?.deadline }

  /// Returns the error of a merged deferral, whose batch has arrived, once.
  mutating func consumeMergedError() -> LocationErrorCode? {
    guard let code = mergedEnd?.code else { return nil }
    mergedEnd = nil
    return code
  }

  /// The batch of the merged deferral is complete, or is awaited no longer.
  mutating func endBatch() { mergedEnd = nil }

  /// How long after its timeout a deferral ends.
  var timeoutWait: Interval { hasMerged ? ServiceDeferrals.endWait : .zero }
}
