import Glibc
import LocationClient
import TOMLFiles
import Uplink

/// The program `torpor-uplink`. Its behaviour is in the module `Uplink`.
@main
struct Main {
  static func main() {
    // A broker may close the connection while TLS writes.
    _ = signal(SIGPIPE, SIG_IGN)
    switch Options.parse(Array(CommandLine.arguments.dropFirst())) {
    case .output(let text): print(text)
    case .invalid(let reason):
      log("\(reason); run `torpor-uplink --help` for the options")
      exit(EX_USAGE)
    case .run(let options): start(options)
    }
  }

  private static func start(_ options: Options) -> Never {
    if options.check != nil, let problem = UnitUser.become() {
      log(problem)
      exit(EX_OSERR)
    }
    let settings: UplinkSettings
    do throws(FileProblems) {
      settings = try UplinkProgram.settings(in: options.config)
    } catch {
      // Without the program's name: each line begins with FILE:LINE:COLUMN, which editors can jump to.
      write(error.description)
      exit(FileProblems.exitCode)
    }
    switch options.check {
    case .settings:
      for warning in settings.warnings { log("warning: \(warning)") }
      exit(EX_OK)
    case .destinations:
      exit(UplinkProgram.check(settings) { print($0) } ? EX_OK : EX_UNAVAILABLE)
    case nil: run(settings, options)
    }
  }

  private static func run(_ settings: UplinkSettings, _ options: Options) -> Never {
    do throws(ClientError) {
      try UplinkProgram.run(
        settings, socket: options.socket, status: options.status, metrics: options.metrics
      ) { log($0) }
    } catch {
      log("\(error)")
      exit(EX_UNAVAILABLE)
    }
  }

  private static func log(_ line: String) { write("torpor-uplink: \(line)") }

  private static func write(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes {
      unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
    }
  }
}
