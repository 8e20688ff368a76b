import LocationEngine
import LocationTypes
import LocationWire

/// A pending answer. Each connection receives its answers in the order of its calls.
struct PendingAnswer {
  /// Computes an answer that needs the engine; returns nil if it has sent one itself.
  typealias Query = (inout LocationServer, borrowing Engine, Effects) -> WireReply?

  /// When an answer may be sent.
  enum Answer {
    /// At the end of this turn.
    case ready(WireReply)
    /// After the next flush.
    case durable(WireReply)
    /// After the next flush, as an answer to an acknowledgement; an error if that fix never existed.
    case acknowledged(FixName)
    /// At the end of this turn, when the engine has handled the preceding requests.
    case fromEngine(Query)
  }

  let connection: Int
  let answer: Answer
}

/// Queue of the answers that are not sent yet, in the order of the calls.
///
/// Answers wait until the end of the turn, when the engine has handled their requests and the durable state is flushed.
/// The server reads no further input while the queue is full; a handled buffer may exceed that limit.
struct AnswerQueue {
  /// Number of pending answers at which no further descriptor is read.
  static let capacity = 64

  private var pending: [PendingAnswer] = []

  var isEmpty: Bool { pending.isEmpty }

  /// Whether no further call may be read.
  var isFull: Bool { pending.count >= AnswerQueue.capacity }

  /// Whether an answer waits for a flush.
  var hasDurable: Bool {
    pending.contains {
      switch $0.answer {
      case .durable, .acknowledged: true
      case .ready, .fromEngine: false
      }
    }
  }

  /// Adds an answer for a connection.
  mutating func append(_ answer: PendingAnswer.Answer, to connection: Int) {
    pending.append(PendingAnswer(connection: connection, answer: answer))
  }

  /// Removes the answers for a connection that is closed.
  mutating func removeAll(for connection: Int) { pending.removeAll { $0.connection == connection } }

  /// Removes and returns all answers.
  mutating func removeAll() -> [PendingAnswer] {
    let all = pending
    pending.removeAll(keepingCapacity: true)
    return all
  }
}

extension WireReply {
  /// The answer if the flush has failed.
  var notDurable: WireReply {
    switch self {
    case .error: self
    default: .error(.notAvailable(what: "the disk: this holds until the service ends"))
    }
  }
}
