import BoardProfiles
import Glibc

/// Questions on standard error, answers from standard input, a line each.
struct Answers {
  /// The longest answer, bytes: the longest text of a profile has 256 characters.
  private static let longest = 4_096

  private let isTerminal = POSIX.isTerminal(STDIN_FILENO)
  private var line = 0
  private var table = ""

  /// Asks until `take` accepts an answer.
  ///
  /// On a terminal a refused answer is told and asked for again. From a pipe it ends the command:
  /// every later answer would be taken for another question's.
  ///
  /// - Throws: ``CommandError`` when the answers end or one of a pipe is refused; what else `take`
  ///   throws.
  mutating func put(
    _ question: NewProfile.Question, take: (String) throws -> Void
  ) throws {
    explain(question)
    let proposal = question.proposal ?? (question.path == "name" ? "" : "leave it out")
    while true {
      show("\(question.path) (\(question.takes)) [\(proposal)]: ")
      let answer = try read()
      // A terminal has shown what was typed.
      if !isTerminal || answer == nil { show((answer ?? "") + "\n") }
      guard let answer else {
        throw CommandError(
          .data, "the answers ended before \(question.path); nothing was written")
      }
      do {
        return try take(answer)
      } catch let rejection as NewProfile.Rejection {
        guard isTerminal else {
          throw CommandError(
            .data, "answer \(line), \(question.path): \(rejection.message); nothing was written")
        }
        POSIX.tell("  \(rejection.message)")
      }
    }
  }

  /// Tells on a terminal what is asked for.
  private mutating func explain(_ question: NewProfile.Question) {
    guard isTerminal else { return }
    if question.table != table, !question.table.isEmpty, !question.isTable {
      show("\n[\(question.table)] \(question.tableMeaning)\n")
    }
    table = question.isTable ? question.path : question.table
    show("\n\(question.meaning)\n")
  }

  private func show(_ text: String) { _ = POSIX.write(Array(text.utf8), to: STDERR_FILENO) }

  /// The next line without its end and the blanks around it; nil at the end of the input.
  private mutating func read() throws(CommandError) -> String? {
    var bytes: [UInt8] = []
    while true {
      var byte: UInt8 = 0
      let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
      if count < 0 {
        if errno == EINTR { continue }
        throw CommandError(.io, "reading the answers failed: \(POSIX.reason(errno))")
      }
      if count == 0, bytes.isEmpty { return nil }
      if count == 0 || byte == UInt8(ascii: "\n") { break }
      bytes.append(byte)
      if bytes.count > Answers.longest {
        throw CommandError(.data, "an answer of more than \(Answers.longest) bytes")
      }
    }
    line += 1
    let text = String(decoding: bytes, as: UTF8.self)
    return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }

  private func isBlank(_ character: Character) -> Bool {
    character == " " || character == "\t" || character == "\r"
  }
}
