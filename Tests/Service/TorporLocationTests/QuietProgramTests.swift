import Glibc
import LocationClient
import LocationWire
import TestSupport
import Testing

@testable import TorporLocation

@Suite("Programs that wait on the calling thread", .tags(.realTime))
struct QuietProgramTests {
  struct Refused: Error {}

  @Test("an async operation runs on the calling thread across suspensions and returns its result")
  func result() throws {
    let caller = pthread_self()
    let sum = try QuietProgram.run {
      var sum = 0
      for number in 1...3 {
        await Task.yield()
        #expect(pthread_equal(pthread_self(), caller) != 0)
        sum += number
      }
      return sum
    }
    #expect(sum == 6)
  }

  @Test("a thrown error is rethrown")
  func error() {
    #expect(throws: Refused.self) {
      try QuietProgram.run {
        await Task.yield()
        throw Refused()
      }
    }
  }

  @Test("a loop over live updates runs on the calling thread and ends when it is left")
  func live() throws {
    let staged = StagedService()
    let (service, center) = (staged.service, staged.center)
    let caller = pthread_self()
    let locations = try QuietProgram.run {
      try await withThrowingTaskGroup(of: Fix?.self) { group in
        group.addTask {
          for try await update in LocationUpdate.liveUpdates(of: center) {
            #expect(pthread_equal(pthread_self(), caller) != 0)
            return update.location
          }
          return nil
        }
        while !service.calls.contains(.openLive(.default)) { await Task.yield() }
        service.notify(.live(StagedService.element(0, 4)))
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(locations == [StagedService.fix(4).fix])
    for _ in 0..<10_000 where !service.calls.contains(.closeLive(0)) { usleep(1_000) }
    #expect(service.calls.contains(.closeLive(0)))
  }
}
