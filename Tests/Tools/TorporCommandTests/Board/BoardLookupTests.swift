import TestSupport
import Testing

@testable import torpor

@Suite("How a board's name is resolved to a file", .tags(.process))
struct BoardLookupTests {
  /// Runs `torpor` with the arguments in a shell whose working directory is `folder`.
  func run(in folder: String, _ arguments: String) -> Command.Result {
    Command.run(["-c", "cd '\(folder)' && '\(Command.path)' \(arguments)"], program: "/bin/sh")
  }

  /// A folder with a board `mine`, and the same profile as the file `bare`.
  func folder() -> String {
    let folder = Command.directory()
    let profile = Array(Command.run(["board", "show", "simulated"]).output.utf8)
    #expect(Command.run(["-c", "mkdir '\(folder)/mine'"], program: "/bin/sh").status == 0)
    Command.write(profile, to: "\(folder)/mine/profile.toml")
    Command.write(profile, to: "\(folder)/bare")
    return folder
  }

  @Test("a file or folder in the working directory is used if no board has its name, and is shown")
  func local() {
    let folder = folder()
    for (name, expected) in [
      ("mine", "mine: simulated is valid (mine/profile.toml)"),
      ("mine/", "mine/: simulated is valid (mine/profile.toml)"),
      ("./mine", "./mine: simulated is valid (./mine/profile.toml)"),
      ("mine/profile.toml", "mine/profile.toml: simulated is valid"),
      ("bare", "bare: simulated is valid"),
    ] {
      let result = run(in: folder, "board check \(name)")
      #expect(result.status == 0 && result.output == expected + "\n", "\(result)")
    }
    let json = run(in: folder, "board check --json mine")
    #expect(
      json.output
        == #"{"kind":"profile","board":"mine","file":"mine/profile.toml","problems":0}"# + "\n")
    #expect(run(in: folder, "simulate --board mine --hours 0.1 -q").status == 0)
    #expect(run(in: folder, "board show mine").status == 0)
  }

  @Test("a board's name takes precedence over a folder of the same name, and the file is shown")
  func named() {
    let folder = folder()
    #expect(
      run(in: folder, "board check simulated").output.contains("/Boards/simulated/profile.toml)"))
    let own = run(
      in: folder,
      "board check simulated; mv mine simulated; '\(Command.path)' board check simulated")
    let lines = own.output.split(separator: "\n")
    #expect(lines.count == 2 && lines[0] == lines[1])
  }

  @Test("a folder without a profile and an unknown name are not boards")
  func unknown() {
    let folder = folder()
    for name in ["empty", "nothing", "''"] {
      let result = run(in: folder, "board check \(name); mkdir -p empty")
      #expect(result.errors.contains("no board is named"), "\(result.errors)")
    }
    let bare = run(in: folder, "board check empty")
    #expect(
      bare.errors.contains(
        "the folder of that name in the working directory has no profile.toml; known boards: "))
    let prefix = run(in: folder, "simulate --board pi5 --hours 0.1")
    #expect(prefix.errors.hasPrefix("torpor: "), "\(prefix.errors)")
    #expect(prefix.errors.contains("did you mean \"pi5-max-m10s\"?"), "\(prefix.errors)")
    let replaced = run(in: folder, "simulate --board mine --hours 0.1 --trace mine/profile.toml")
    #expect(replaced.status == 64 && replaced.errors.contains("the same file as the profile"))
  }
}
