import LocationWire
import Testing

@testable import LocationService

@Suite("The queue of pending answers")
struct AnswerQueueTests {
  @Test("the answers of a closed connection are removed, and durable ones are known")
  func answers() {
    var answers = AnswerQueue()
    answers.append(.ready(.done), to: 1)
    #expect(!answers.hasDurable)
    answers.append(.durable(.done), to: 2)
    #expect(answers.hasDurable)
    answers.removeAll(for: 2)
    #expect(!answers.hasDurable && !answers.isFull)
    for _ in 1..<AnswerQueue.capacity { answers.append(.ready(.done), to: 3) }
    #expect(answers.isFull)
    #expect(answers.removeAll().map(\.connection).prefix(2) == [1, 3])
    #expect(answers.isEmpty)
  }
}
