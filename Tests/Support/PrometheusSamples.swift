/// A strict reader of Prometheus' text format 0.0.4 without timestamps, for tests of metrics.
public struct PrometheusSamples {
  /// Value of each sample by name and labels, as written.
  public private(set) var values: [String: Double] = [:]
  /// Type of each metric.
  public private(set) var kinds: [String: String] = [:]
  /// Deviations from the format and from Prometheus' conventions for names.
  public private(set) var problems: [String] = []
  private var helped: Set<String> = []
  private var current = ""

  /// Reads a text.
  public init(_ text: String) {
    if !text.hasSuffix("\n") { problems.append("the last line does not end") }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      read(line)
    }
    for name in helped where !values.keys.contains(where: { $0.prefix { $0 != "{" } == name }) {
      problems.append("\(name) has no sample")
    }
  }

  /// Value of a sample; nil without one.
  public subscript(_ sample: String) -> Double? { values[sample] }

  private mutating func read(_ line: Substring) {
    let parts = line.split(separator: " ", omittingEmptySubsequences: false)
    if line.hasPrefix("# HELP "), parts.count > 3 {
      current = String(parts[2])
      if !helped.insert(current).inserted { problems.append("\(current) begins twice") }
      checkName(current)
    } else if line.hasPrefix("# TYPE "), parts.count == 4 {
      let (name, kind) = (String(parts[2]), String(parts[3]))
      if name != current || kinds[name] != nil { problems.append("misplaced: \(line)") }
      kinds[name] = kind
      if !["counter", "gauge"].contains(kind) { problems.append("unknown type: \(line)") }
      if (kind == "counter") != name.hasSuffix("_total") {
        problems.append("\(name) is a \(kind)")
      }
    } else {
      readSample(line)
    }
  }

  private mutating func checkName(_ name: String) {
    let letters = name.utf8.allSatisfy { (97...122).contains($0) || $0 == 95 }
    if !letters || !name.hasPrefix("torpor_") { problems.append("a wrong name: \(name)") }
  }

  private mutating func readSample(_ line: Substring) {
    // A value of a label may contain spaces; the number may not, and no timestamp follows it.
    guard let space = line.lastIndex(of: " ") else {
      return problems.append("not a sample: \(line)")
    }
    let (sample, number) = (String(line[..<space]), line[line.index(after: space)...])
    let digits = number.utf8.allSatisfy { (48...57).contains($0) || $0 == 45 || $0 == 46 }
    guard digits, let value = Double(number), kinds[current] != nil else {
      return problems.append("not a sample: \(line)")
    }
    let name = sample.prefix { $0 != "{" }
    let labels = sample.dropFirst(name.count)
    if name != current || !(labels.isEmpty || areLabels(labels.utf8)) {
      problems.append("not a sample of \(current): \(line)")
    }
    if values.updateValue(value, forKey: sample) != nil { problems.append("twice: \(sample)") }
  }

  /// Whether these are labels in braces: names, and values in quotes.
  private func areLabels(_ text: Substring.UTF8View) -> Bool {
    var rest = text.dropFirst()
    while true {
      let name = rest.prefix { (97...122).contains($0) || $0 == 95 }
      rest = rest.dropFirst(name.count)
      guard !name.isEmpty, rest.starts(with: Array("=\"".utf8)) else { return false }
      rest = rest.dropFirst(2)
      while let byte = rest.first, byte != UInt8(ascii: "\"") {
        rest = rest.dropFirst(byte == UInt8(ascii: "\\") ? 2 : 1)
      }
      rest = rest.dropFirst()
      if rest.elementsEqual("}".utf8) { return true }
      guard rest.first == UInt8(ascii: ",") else { return false }
      rest = rest.dropFirst()
    }
  }
}
