import BoardProfiles
import Glibc
import TextFormats

/// Prompts for the values of a new profile: questions on standard error, answers on standard input, one a line.
struct AnswerPrompt {
  /// Longest accepted answer, bytes. The longest text of a profile has 256 characters.
  private static let maximumLength = 4_096

  private let isTerminal = POSIX.isTerminal(STDIN_FILENO)
  private var line = 0
  private var table = ""

  /// Prompts until `accept` accepts an answer.
  ///
  /// On a terminal, a rejected answer is reported and prompted for again. From a pipe, it ends the command, because
  /// every later answer would be applied to the wrong question.
  ///
  /// - Throws: ``CommandError`` with code 65 when the input ends, an answer from a pipe is rejected or an answer is too
  ///   long, 74 when reading fails; other errors of `accept` unchanged.
  mutating func ask(
    _ question: NewProfile.Question, accept: (String) throws -> Void
  ) throws {
    explain(question)
    let proposal = question.proposal ?? (question.path == "name" ? "" : "omit")
    while true {
      show("\(question.path) (\(question.expectation)) [\(proposal)]: ")
      let answer = try read()
      // A terminal echoes the answer itself.
      if !isTerminal || answer == nil { show((answer ?? "") + "\n") }
      guard let answer else {
        throw CommandError(
          .data, "the answers ended before \(question.path); no file was written")
      }
      do {
        return try accept(answer)
      } catch let rejection as NewProfile.Rejection {
        guard isTerminal else {
          throw CommandError(
            .data, "answer \(line), \(question.path): \(rejection.message); no file was written")
        }
        POSIX.printError("  \(rejection.message)")
      }
    }
  }

  /// Prints the meaning of the table and the key, on a terminal only.
  private mutating func explain(_ question: NewProfile.Question) {
    guard isTerminal else { return }
    if question.table != table, !question.table.isEmpty, !question.isTable {
      show("\n[\(question.table)] \(question.tableMeaning)\n")
    }
    table = question.isTable ? question.path : question.table
    show("\n\(question.meaning)\n")
  }

  private func show(_ text: String) { _ = TextFile.write(Array(text.utf8), to: STDERR_FILENO) }

  /// Reads the next line, without its terminator and the blanks around it; nil at the end of the input.
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
      if bytes.count > AnswerPrompt.maximumLength {
        throw CommandError(.data, "an answer is longer than \(AnswerPrompt.maximumLength) bytes")
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
