import LocationClient
import Testing

@testable import CoreLocation

@Suite("The queue of a loop")
struct UpdateQueueTests {
  private func queue() -> UpdateQueue<Int> { UpdateQueue { waiting, new in waiting.append(new) } }

  @Test("elements put before and during reading are delivered in order")
  func order() async throws {
    let queue = queue()
    queue.put(1)
    queue.put(2)
    #expect(try await queue.next() == 1)
    #expect(try await queue.next() == 2)
    async let later = queue.next()
    queue.put(3)
    #expect(try await later == 3)
  }

  @Test("after the end pending elements are read, then nil or the error, repeatedly")
  func ends() async throws {
    let queue = queue()
    queue.put(1)
    queue.finish()
    queue.finish(.disconnected)
    queue.put(2)
    #expect(try await queue.next() == 1)
    #expect(try await queue.next() == nil)
    #expect(try await queue.next() == nil)
    let broken = self.queue()
    broken.finish(.disconnected)
    for _ in 0..<2 {
      await #expect(throws: ClientError.disconnected) { try await broken.next() }
    }
  }

  @Test("LIV-2: a cancelled reader gets nil, while it waits and before")
  func cancelled() async throws {
    let queue = queue()
    let waiting = Task { try await queue.next() }
    await Task.yield()
    waiting.cancel()
    #expect(try await waiting.value == nil)
    // Later elements are for the next reader.
    queue.put(7)
    let early = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await queue.next()
    }
    early.cancel()
    #expect(try await early.value == nil)
    #expect(try await queue.next() == 7)
  }

  @Test("a second reader replaces the first, which gets nil")
  func replaced() async throws {
    let queue = queue()
    let readers = (0..<2).map { _ in Task { try await queue.next() } }
    var first: Int??
    // One of the readers ends as soon as both wait.
    await withTaskGroup(of: Int?.self) { group in
      for reader in readers { group.addTask { try? await reader.value } }
      first = await group.next()
      queue.put(5)
      #expect(await group.next() == .some(5))
    }
    #expect(first == .some(nil))
  }
}
