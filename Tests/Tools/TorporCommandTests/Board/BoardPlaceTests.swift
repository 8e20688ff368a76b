import TestSupport
import Testing

@testable import torpor

@Suite("Which file a board's name stands for", .tags(.process))
struct BoardPlaceTests {
  /// What a shell says to `torpor` and the arguments in a folder.
  func run(in folder: String, _ arguments: String) -> Command.Result {
    Command.run(["-c", "cd '\(folder)' && '\(Command.path)' \(arguments)"], program: "/bin/sh")
  }

  /// A folder with a board `mine` of its own, and its profile without that folder.
  func folder() -> String {
    let folder = Command.directory()
    let profile = Array(Command.run(["board", "show", "simulated"]).output.utf8)
    #expect(Command.run(["-c", "mkdir '\(folder)/mine'"], program: "/bin/sh").status == 0)
    Command.write(profile, to: "\(folder)/mine/profile.toml")
    Command.write(profile, to: "\(folder)/bare")
    return folder
  }

  @Test(
    "a folder or file in the working directory is a board where none has its name; the file is told"
  )
  func local() {
    let folder = folder()
    for (name, told) in [
      ("mine", "mine: simulated is valid (mine/profile.toml)"),
      ("mine/", "mine/: simulated is valid (mine/profile.toml)"),
      ("./mine", "./mine: simulated is valid (./mine/profile.toml)"),
      ("mine/profile.toml", "mine/profile.toml: simulated is valid"),
      ("bare", "bare: simulated is valid"),
    ] {
      let result = run(in: folder, "board check \(name)")
      #expect(result.status == 0 && result.output == told + "\n", "\(result)")
    }
    let json = run(in: folder, "board check --json mine")
    #expect(
      json.output
        == #"{"kind":"profile","board":"mine","file":"mine/profile.toml","problems":0}"# + "\n")
    #expect(run(in: folder, "simulate --board mine --hours 0.1 -q").status == 0)
    #expect(run(in: folder, "board show mine").status == 0)
  }

  @Test("a board's name wins over a folder of the same name, and the file says so")
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

  @Test("a folder without a profile is no board; nor is a name that is nowhere")
  func nowhere() {
    let folder = folder()
    for name in ["empty", "nothing", "''"] {
      let result = run(in: folder, "board check \(name); mkdir -p empty")
      #expect(result.errors.contains("no board is named"), "\(result.errors)")
    }
    let bare = run(in: folder, "board check empty")
    #expect(
      bare.errors.contains(
        "the folder of that name in the working directory has no profile.toml; known boards: "))
    let replaced = run(in: folder, "simulate --board mine --hours 0.1 --trace mine/profile.toml")
    #expect(replaced.status == 64 && replaced.errors.contains("the same file as the profile"))
  }
}
