import ArgumentParser

/// Options for the output of a run (`torpor replay`, `torpor simulate`).
struct PrintingOptions: ParsableArguments {
  @Flag(help: "Print JSON Lines, the records of the trace and a summary, for programs.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print only the summary.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "Write all records of the run to this file as JSON Lines.", valueName: "file"),
    completion: .file())
  var trace: String?

  mutating func validate() throws {
    if trace == "-" {
      throw ValidationError("--trace writes a file; --json prints the trace to standard output")
    }
  }
}
