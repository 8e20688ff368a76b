import CCoreLocation
import Foundation
import Synchronization

/// The pending callbacks of one location manager, and the run loop on which its delegate is called.
///
/// Callbacks come on the run loop of the thread that created the manager: on the main thread through the main queue,
/// which `RunLoop.main.run()`, `dispatchMain()` and an asynchronous `main` serve; on another one by a timer of its run
/// loop without a date, which is set when something arrives. On a thread of Swift's asynchronous code no run loop runs;
/// a manager that is created there uses the main queue. None of these wakes the process while nothing arrives.
@safe final class ManagerMailbox: Sendable {
  private enum Target {
    case mainQueue
    case timer(Timer)
  }

  private struct State {
    var items: [MailboxItem] = []
    var isScheduled = false
    var isClosed = false
  }

  /// Number of items above which a mailbox is full, until half of them are handled.
  static let capacity = 1_024

  let id: MergedDemand.ManagerID
  private let session: LocationSession
  private let state = Mutex(State())
  // Written once, on the creator's thread, before the mailbox is shared.
  nonisolated(unsafe) private var target = Target.mainQueue
  // The reference is written once, before the mailbox is shared; weak references are read atomically.
  nonisolated(unsafe) private weak var manager: CLLocationManager?

  /// Creates the mailbox of a manager on the current thread's run loop.
  init(_ id: MergedDemand.ManagerID, of manager: CLLocationManager, _ session: LocationSession) {
    self.id = id
    self.session = session
    unsafe self.manager = manager
    guard !Thread.isMainThread, !torpor_is_pool_thread() else { return }
    let timer = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { [weak self] timer in
      timer.fireDate = .distantFuture
      self?.drain()
    }
    RunLoop.current.add(timer, forMode: .common)
    unsafe target = .timer(timer)
  }

  /// Adds an item; its callback comes later, never within this call (DEF-10).
  func post(_ item: MailboxItem) {
    let mustSchedule = state.withLock { state in
      guard !state.isClosed else { return false }
      state.items.append(item)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    guard mustSchedule else { return }
    switch unsafe target {
    case .mainQueue: DispatchQueue.main.async { self.drain() }
    case .timer(let timer): timer.fireDate = Date()
    }
  }

  /// Whether the manager does not handle its items in time.
  var isFull: Bool { count > ManagerMailbox.capacity }

  /// Number of pending items.
  var count: Int { state.withLock { $0.items.count } }

  /// Removes and returns the pending deliveries of fixes (RNG-6).
  func dropFixes() -> [MailboxItem] {
    state.withLock { state in
      let dropped = state.items.filter(\.isFixes)
      state.items.removeAll(where: \.isFixes)
      return dropped
    }
  }

  /// Ends delivery; returns the items that are not delivered.
  func close() -> [MailboxItem] {
    if case .timer(let timer) = unsafe target { timer.invalidate() }
    return state.withLock { state in
      state.isClosed = true
      defer { state.items = [] }
      return state.items
    }
  }

  /// Calls the delegate for all items, on the manager's thread.
  private func drain() {
    while true {
      let (next, isHalfEmpty) = state.withLock { state -> (MailboxItem?, Bool) in
        guard !state.items.isEmpty else {
          state.isScheduled = false
          return (nil, false)
        }
        let item = state.items.removeFirst()
        return (item, state.items.count == ManagerMailbox.capacity / 2)
      }
      guard let item = next else { return }
      if isHalfEmpty { session.wake() }
      if session.shallDeliver(item, to: id) { unsafe manager?.receive(item) }
      session.finishDelivery(of: item)
    }
  }
}

extension MailboxItem {
  /// Whether it delivers fixes.
  fileprivate var isFixes: Bool { if case .delivery(.fixes) = self { true } else { false } }
}

extension LocationSession {
  /// Whether an item is still due: fixes of an earlier run of updates are not. Sets ``SessionState/location`` before
  /// the callback (STD-8).
  fileprivate func shallDeliver(_ item: MailboxItem, to id: MergedDemand.ManagerID) -> Bool {
    guard case .delivery(.fixes(let fixes, let run)) = item else { return true }
    return change { state in
      if let run, !state.demand.isCurrent(run: run, of: id) { return false }
      if let last = fixes.last, state.location.map({ last.name >= $0.name }) ?? true {
        state.location = last
      }
      return true
    }
  }

  /// All callbacks of an item have returned: its fixes and its event may be acknowledged (RNG-8, REG-13).
  fileprivate func finishDelivery(of item: MailboxItem) {
    switch item {
    case .delivery(.fixes), .delivery(.visit), .region: change { $0.release([item]) }
    case .delivery, .action: break
    }
  }

  /// Registers a manager that is created on the current thread.
  func addManager(_ manager: CLLocationManager) -> MergedDemand.ManagerID {
    let id = change { state in
      state.lastManager += 1
      return state.lastManager
    }
    let mailbox = ManagerMailbox(id, of: manager, self)
    change { state in
      let isFirst = state.mailboxes.isEmpty
      state.mailboxes[id] = mailbox
      state.demand.add(id)
      state.applyEffects()
      guard isFirst else { return }
      for item in state.unclaimed { mailbox.post(item) }
      state.unclaimed = []
    }
    wake()
    return id
  }

  /// Removes a manager that is deallocated.
  func removeManager(_ id: MergedDemand.ManagerID) {
    let undelivered = change { state -> [MailboxItem] in
      state.demand.remove(id, at: .now)
      state.applyEffects()
      state.stateRequests.removeAll { $0.manager == id }
      guard let mailbox = state.mailboxes.removeValue(forKey: id) else { return [] }
      let items = mailbox.close()
      state.release(items)
      return items
    }
    // Actions own objects of the program, whose deinitialisers may use the session: they end here, without the lock.
    withExtendedLifetime(undelivered) {}
    wake()
  }
}
