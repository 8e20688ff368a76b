import Testing

@Suite("Texts for users contain no references to the sources")
struct UserTextTests {
  /// Modules whose strings are printed or logged.
  private static let printing: Set = [
    "torpor", "torpord", "BoardDoctor", "BoardProfiles", "TOMLFiles", "BoardHardware",
    "LinuxHAL", "LocationClient", "LocationService", "LocationSimulation", "CoreLocation",
    "ServiceState", "GPXFiles", "CoreLocation", "Uplink", "torpor-uplink",
  ]

  /// The problem of a text in a program or an installed file; nil if it has none.
  static func problem(in text: some StringProtocol) -> String? {
    let line = String(text)
    if line.contains("Docs/") { return "it names a page that no package ships" }
    if line.contains("torpor.org/") || line.contains("//torpor.org") {
      return "it names a site that is not this project's"
    }
    if line.contains("error 1") { return "it gives an error by its number" }
    if !ContractText.citations(in: line).isEmpty { return "it cites the contract by number" }
    return nil
  }

  @Test("the check finds each kind of problem")
  func checker() {
    let wrong = [
      "see Docs/HowTo/add-a-board.md", "https://torpor.org", "error 15, canceled",
      "at most (RNG-8)",
    ]
    for text in wrong { #expect(Self.problem(in: text) != nil, "\(text)") }
    #expect(Self.problem(in: "org.torpor.Location, error: canceled, UTF-8") == nil)
  }

  @Test("strings in the programs have no problem")
  func strings() throws {
    for file in try Repository.swiftSources() where Self.printing.contains(file.module) {
      for line in file.text.split(separator: "\n") {
        // Comments may contain such references.
        guard let code = line.split(separator: "//", maxSplits: 1).first, !line.isComment else {
          continue
        }
        let text = code.contains("://") || line.contains("://") ? line : Substring(code)
        if let problem = Self.problem(in: text) {
          Issue.record("\(file.path): \(problem): \(text)")
        }
      }
    }
  }

  @Test("installed files have no problem")
  func files() throws {
    let files =
      try Repository.files(in: ["Boards"], endings: ["toml", "md"])
      + Repository.files(in: ["packaging"], endings: ["toml", "conf", "service", "8", "default"])
    #expect(files.count > 10)
    for file in files where file.path != "Boards/README.md" {
      for line in file.text.split(separator: "\n") {
        if let problem = Self.problem(in: line) {
          Issue.record("\(file.path): \(problem): \(line)")
        }
      }
    }
    #expect(!Repository.folders(in: "Boards").contains("gpio-sim-m10"))
  }

  @Test("the same version of Swift is required everywhere")
  func swiftVersion() throws {
    let manifest = try Repository.text("Package.swift").prefix { $0 != "\n" }
    let version = manifest.split(separator: " ").last.map(String.init) ?? ""
    let parts = version.split(separator: ".")
    try #require(parts.count == 2)
    let installer = try Repository.text(".ci/install-missing")
    #expect(installer.contains("required_major=\(parts[0])\nrequired_minor=\(parts[1])\n"))
    for page in ["README.md", "Docs/Tutorial/zero2w-max-m10s.md"] {
      #expect(try Repository.text(page).contains("Swift \(version) or newer"), "\(page)")
    }
    #expect(
      try Repository.text("Docs/HowTo/write-a-program.md").contains(
        "swift-tools-version: \(version)"))
    #expect(
      try Repository.text("Docs/HowTo/run-the-gates.md").contains(
        "toolchain of \(version) or newer"))
  }
}

extension Substring {
  fileprivate var isComment: Bool { drop { $0 == " " }.hasPrefix("//") }
}
