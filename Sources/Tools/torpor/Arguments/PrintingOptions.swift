import ArgumentParser

/// How a run is told.
struct PrintingOptions: ParsableArguments {
  @Flag(help: "Print JSON Lines, the records of the trace and a summary, for programs.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print the summary alone.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "Write everything that happened to this file as JSON Lines.", valueName: "file"),
    completion: .file())
  var trace: String?

  mutating func validate() throws {
    if trace == "-" {
      throw ValidationError("--trace writes a file; --json prints the trace to standard output")
    }
  }
}
