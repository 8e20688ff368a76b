import LocationClient
import Testing

@testable import TorporLocation

@Suite("The mailbox of a loop")
struct MailboxTests {
  private func box() -> Mailbox<Int> { Mailbox { waiting, new in waiting.append(new) } }

  @Test("elements put before and during reading are delivered in order")
  func order() async throws {
    let box = box()
    box.put(1)
    box.put(2)
    #expect(try await box.next() == 1)
    #expect(try await box.next() == 2)
    async let later = box.next()
    box.put(3)
    #expect(try await later == 3)
  }

  @Test("after the end pending elements are read, then nil or the error, repeatedly")
  func ends() async throws {
    let box = box()
    box.put(1)
    box.finish()
    box.finish(.disconnected)
    box.put(2)
    #expect(try await box.next() == 1)
    #expect(try await box.next() == nil)
    #expect(try await box.next() == nil)
    let broken = self.box()
    broken.finish(.disconnected)
    for _ in 0..<2 {
      await #expect(throws: ClientError.disconnected) { try await broken.next() }
    }
  }

  @Test("LIV-2: a cancelled reader gets nil, while it waits and before")
  func cancelled() async throws {
    let box = box()
    let waiting = Task { try await box.next() }
    await Task.yield()
    waiting.cancel()
    #expect(try await waiting.value == nil)
    // Later elements are for the next reader.
    box.put(7)
    let early = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await box.next()
    }
    early.cancel()
    #expect(try await early.value == nil)
    #expect(try await box.next() == 7)
  }

  @Test("a second reader replaces the first, which gets nil")
  func replaced() async throws {
    let box = box()
    let readers = (0..<2).map { _ in Task { try await box.next() } }
    var first: Int??
    // One of the readers ends as soon as both wait.
    await withTaskGroup(of: Int?.self) { group in
      for reader in readers { group.addTask { try? await reader.value } }
      first = await group.next()
      box.put(5)
      #expect(await group.next() == .some(5))
    }
    #expect(first == .some(nil))
  }
}
