import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import ReceiverDrivers
import ServiceState
import TestSupport
import Testing

@testable import LocationService

@Suite("The durable state without a server: reasons to flush, failures, rows of clients")
struct PersistenceTests {
  private let log = LogPipe()
  private let folder = TestFolder()

  private func persistence() throws -> Persistence {
    let store = try StateStore(path: folder.path + "/state.db", at: UTCTime(microseconds: 0))
    return Persistence(store, ServiceLog(log.log))
  }

  @Test("RNG-3, RNG-4: an acknowledgement alone requires no flush; an event and updates do")
  func reasons() throws {
    var persistence = try persistence()
    persistence.flush(forAnswer: false)
    #expect(!persistence.requiresFlush && !persistence.hasChanges)
    persistence.note(.acknowledgement)
    #expect(!persistence.requiresFlush && persistence.hasChanges)
    for reason in [Persistence.Unsaved.event, .updatesChange, .flash] {
      persistence.note(reason)
      #expect(persistence.requiresFlush)
      persistence.flush(forAnswer: false)
      #expect(!persistence.requiresFlush)
    }
    #expect(persistence.hasChanges, "a flush does not update the rows of acknowledgements")
    persistence.didUpdateAllRows()
    #expect(!persistence.hasChanges)
  }

  @Test("writes to the receiver's flash survive a kill and are recorded once")
  func flash() throws {
    var first: Persistence? = try persistence()
    let written = FlashRecord(target: .max, writes: 3, kept: 17)
    let isNew = first?.needsRecord(written)
    let isRecorded = first?.store.record(written)
    #expect(isNew == true && isRecorded == true)
    let isAgain = first?.needsRecord(written)
    let isRecordedAgain = first?.store.record(written)
    #expect(isAgain == false && isRecordedAgain == false)
    first?.note(.flash)
    #expect(first?.requiresFlush == true)
    first?.flush(forAnswer: false)
    first = nil
    let second = try persistence()
    #expect(second.store.flashRecord == written)
    let isEmptyRecorded = second.store.record(FlashRecord(target: 1))
    #expect(!isEmptyRecorded, "a start without a write keeps the record")
  }

  @Test("BKG-20: a failing disk is logged once, and so is its recovery")
  func failure() throws {
    var persistence = try persistence()
    persistence.flush(forAnswer: false)
    let path = folder.path
    let isMoved = unsafe rename(path, path + ".away") == 0
    #expect(isMoved)
    for uid in 1...3 as ClosedRange<UInt32> {
      _ = persistence.store.addClient(uid: uid, name: "a")
      persistence.note(.event)
      persistence.flush(forAnswer: true)
      #expect(persistence.hasFailed && !persistence.requiresFlush)
    }
    let isBack = unsafe rename(path + ".away", path) == 0
    #expect(isBack)
    persistence.flush(forAnswer: true)
    #expect(!persistence.hasFailed && !persistence.hasChanges)
    let lines = log.text.split(separator: "\n")
    #expect(lines.count == 2 && lines[0].contains("cannot be saved"), "\(lines)")
    #expect(lines.last?.contains("is saved again") == true)
  }

  @Test("RES-2: rows without a service, a decision or an undelivered fix may be removed")
  func disposable() throws {
    let persistence = try persistence()
    let row = try #require(persistence.store.addClient(uid: 5_000, name: "a"))
    #expect(persistence.isDisposable(row.id))
    persistence.updateServices(of: row.id, at: .boot) { $0.visits = true }
    #expect(!persistence.isDisposable(row.id))
    persistence.updateServices(of: row.id, at: .boot) { $0.visits = false }
    #expect(persistence.isDisposable(row.id))
    let access = Users.policy.access(uid: 5_000, client: "a")
    persistence.saveAccess(
      of: row.id, access, decision: AccessDecision(.denied), at: .boot)
    #expect(!persistence.isDisposable(row.id))
    let name = WireClientName(user: 5_000, name: "a")
    #expect(persistence.decision(about: name) == AccessDecision(.denied))
  }

  @Test("VIS-8, REG-13: pending events are restored in order, and the last handled one is stored")
  func events() throws {
    let persistence = try persistence()
    let client = try #require(persistence.store.addClient(uid: 5_000, name: "a")).id
    var names = RegionNames()
    let added = names.identifier(.region, named: "home")
    let home = try #require(added)
    let region = Region(home, center: Coordinate(latitude_e9: 1, longitude_e9: 1), radius: 100)
    persistence.put(
      RegionRecord(client: client, name: "home", region: region, state: .unknown),
      in: \.regions, at: .boot)
    var queue = NoticeQueue()
    for isInside in [true, false] {
      let event = WireRegionEvent(.region, name: "home", .determined(isInside ? .inside : .outside))
      let (added, _) = queue.appendEvent { .region(event, number: $0) }
      persistence.addEvent(added, of: client, at: .boot)
    }
    let restored = persistence.unacknowledgedEvents(of: client, last: 2)
    #expect(restored.entries.compactMap { $0.event?.number } == [1, 2])
    persistence.recordHandled([1, 2], of: client, named: names, at: .boot)
    persistence.removeEvents([1, 2], of: client)
    let regions = persistence.monitoredRegions(of: client, includesState: true)
    #expect(regions.first?.lastEvent?.change == .determined(.outside))
    #expect(persistence.unacknowledgedEvents(of: client, last: 2).eventCount == 0)
    let hidden = persistence.monitoredRegions(of: client, includesState: false)
    #expect(hidden.first?.lastEvent == nil && hidden.first?.state == .unknown)
  }
}
