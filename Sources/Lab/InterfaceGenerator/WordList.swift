/// An enumeration of Swift whose values are transmitted as words of the interface.
struct WordList: Equatable {
  /// A case of the enumeration and its word.
  struct Entry: Equatable {
    var name: String
    var word: String
  }

  /// Name of the enumeration.
  var type: String
  var entries: [Entry] = []

  /// Parses an annotation:
  ///
  ///     words Type of member: case = word, …
  ///
  /// The words are those of the declared type, or of its member; a member of a record counts as a word. The case of a word
  /// is the word in camel case, unless the list names another one. A word that is not declared is added.
  init(
    _ annotation: String, of declaration: VarlinkInterface.Declaration
  ) throws(GeneratorError) {
    guard
      let match = annotation.wholeMatch(of: /(\w+)(?: of (\w+))?(?:: (.+))?/)
    else { throw GeneratorError(reason: "'\(annotation)' is not a list of words") }
    type = String(match.1)
    var others: [Entry] = []
    for part in parts(of: match.3 ?? "") {
      guard let pair = part.wholeMatch(of: /(\w+) = (\w+)/) else {
        throw GeneratorError(reason: "'\(part)' is not a case and its word")
      }
      others.append(Entry(name: String(pair.1), word: String(pair.2)))
    }
    for word in try WordList.words(match.2.map { String($0) }, declaration) {
      let name = others.first { $0.word == word }?.name ?? camelCase(word)
      entries.append(Entry(name: name, word: word))
    }
    entries += others.filter { other in !entries.contains { $0.word == other.word } }
    guard !entries.isEmpty else {
      throw GeneratorError(reason: "'\(annotation)' has no words in '\(declaration.name)'")
    }
  }

  private static func words(
    _ member: String?, _ declaration: VarlinkInterface.Declaration
  ) throws(GeneratorError) -> [String] {
    guard let member else { return parts(of: declaration.body[...]) }
    guard
      let text = parts(of: declaration.body[...]).first(where: { $0.hasPrefix(member + ": ") }),
      let match = text.wholeMatch(of: /\w+: \??(?:\((.*)\)|\w+)/)
    else { throw GeneratorError(reason: "'\(member)' of '\(declaration.name)' has no words") }
    return parts(of: match.1 ?? "").map { String($0.prefix { $0 != ":" }) }
  }
}
