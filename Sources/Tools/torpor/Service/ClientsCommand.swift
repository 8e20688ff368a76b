import ArgumentParser
import Glibc
import LinuxHAL
import LocationPolicy
import LocationWire
import TextFormats

/// `torpor clients`.
struct ClientsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clients",
    abstract: "List the service's clients, and set their permissions; for administrators.",
    discussion: """
      A client is identified by its user and by the name with which the program registers: \
      USER/NAME, the user by name or number. The service knows a client after its first connection. \
      A decision made here applies unless a rule of the administrator's file, clients.toml, \
      decides.

        torpor clients list
        torpor clients allow pi/trail-log
        torpor clients reduce 1000/weather
        torpor clients forget pi/old-game

      Of clients without a decision, the service keeps the 4 of each user that connected last, and \
      32 of all users; a restart removes them. A decision is kept until 'forget' removes it.
      """,
    subcommands: [
      ClientsList.self, ClientsAllow.self, ClientsDeny.self, ClientsReduce.self,
      ClientsForget.self,
    ]
  )
}

/// `torpor clients list`.
struct ClientsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List all known clients and their permissions.")

  @OptionGroup var socket: SocketOption

  @Flag(help: "Print one JSON object, the reply of the socket's ListClients.")
  var json = false

  func run() throws {
    let clients = try socket.request { try $0.listClients() }
    if json { return try Output.print(reply: .clients(clients)) }
    if clients.isEmpty { return try Output.print("no client has connected yet\n") }
    var text = TextBuffer()
    ClientsList.table(clients).write(to: &text, style: .ofStandardOutput)
    try Output.print(text.bytes)
  }

  private static func table(_ clients: [WireClient]) -> TextTable {
    var table = TextTable(
      ["client", "user", "may use location", "accuracy", "process"], leftColumns: 5)
    for client in clients {
      table.add([
        LogText.cleaned(client.name.name), ClientName.user(client.name.user),
        text(client.authorization)
          + (client.requestedAuthorization.map {
            ", requested: \(text($0))"
          } ?? ""),
        client.isReduced ? "reduced" : "full",
        StatusText.process(client.execution)
          + (client.hasBackgroundSession ? ", background session" : ""),
      ])
    }
    return table
  }

  static func text(_ authorization: Authorization) -> String {
    switch authorization {
    case .notDetermined: "not decided"
    case .restricted: "restricted"
    case .denied: "no"
    case .always: "always"
    case .whenInUse: "when in use"
    }
  }
}

/// `torpor clients allow`.
struct ClientsAllow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "allow", abstract: "Let a client use location.")

  @OptionGroup var decision: ClientDecision

  @Flag(help: "Only while one of its processes is in the foreground, instead of always.")
  var whenInUse = false

  func run() throws {
    try decision.send(
      .allowClient(decision.client, whenInUse ? .whenInUse : .always),
      whenInUse ? "may use location when in use" : "may always use location"
    ) { $0.member("authorization", whenInUse ? "when_in_use" : "always") }
  }
}

/// `torpor clients deny`.
struct ClientsDeny: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deny",
    abstract: "Revoke a client's permission immediately; its undelivered fixes are never delivered."
  )

  @OptionGroup var decision: ClientDecision

  func run() throws {
    try decision.send(.denyClient(decision.client), "may not use location") {
      $0.member("authorization", "denied")
    }
  }
}

/// `torpor clients reduce`.
struct ClientsReduce: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reduce",
    abstract: "Give a client only an approximate location: 5 km, a few times an hour.")

  @OptionGroup var decision: ClientDecision

  @Flag(help: "Give it full accuracy again.")
  var undo = false

  func run() throws {
    try decision.send(
      .reduceClient(decision.client, isReduced: !undo),
      undo ? "has full accuracy" : "has reduced accuracy"
    ) { $0.member("reduced_accuracy", !undo) }
  }
}

/// `torpor clients forget`.
struct ClientsForget: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Remove a client, its regions and the decision about it.",
    discussion: """
      The service closes the client's connections. A program that connects under that name again is \
      a new, undecided client. To keep a program from using location, deny it instead.
      """)

  @OptionGroup var decision: ClientDecision

  func run() throws {
    try decision.send(.forgetClient(decision.client), "has been removed") {
      $0.member("forgotten", true)
    }
  }
}

/// Options of the commands that decide about one client, and the output of the decision.
struct ClientDecision: ParsableArguments {
  @OptionGroup var socket: SocketOption

  @Flag(
    help: "Print one JSON object: user, name and the decision, with the members of ListClients.")
  var json = false

  @Argument(help: ClientName.help, transform: ClientName.parse)
  var client: WireClientName

  /// Sends the decision to the service, and prints the result.
  ///
  /// - Parameters:
  ///   - call: The decision.
  ///   - what: The result as a sentence without its subject.
  ///   - member: Writes the result as a member of the JSON object.
  /// - Throws: ``CommandError`` if the service refuses it or is not available.
  func send(
    _ call: WireCall, _ what: String, _ member: (inout JSONOutput) -> Void
  ) throws {
    try socket.request { try $0.call(call) }
    var line = JSONOutput()
    line.line { line in
      line.member("user", Int64(client.user))
      line.member("name", client.name)
      member(&line)
    }
    let text = "\(LogText.cleaned(client.name)) of \(ClientName.user(client.user)) \(what)\n"
    try Output.print(json ? line.bytes : Array(text.utf8))
  }
}

/// A client on the command line: `USER/NAME`.
enum ClientName {
  static let help = ArgumentHelp(
    "The client: USER/NAME, the user by name or number.", valueName: "user/name")

  /// Parses `pi/trail-log`.
  static func parse(_ text: String) throws -> WireClientName {
    // A name may begin with a combining mark, which joins the `/` into one `Character`.
    let scalars = text.unicodeScalars
    guard let slash = scalars.firstIndex(of: "/"), slash > text.startIndex else {
      throw ValidationError("it should be USER/NAME, for example pi/trail-log or 1000/trail-log")
    }
    let user = String(scalars[..<slash])
    let name = String(scalars[scalars.index(after: slash)...])
    guard NameValidation.isValidClient(name) else {
      throw ValidationError(
        "the name after the / should have 1 to \(WireLimits.clientName) bytes and no control characters"
      )
    }
    guard let number = UInt32(user) ?? number(of: user) else {
      throw ValidationError(
        "there is no user '\(user)' on this board; create the user or correct the name (`getent passwd`)"
      )
    }
    return WireClientName(user: number, name: name)
  }

  private static func number(of user: String) -> UInt32? {
    guard let entry = unsafe getpwnam(user) else { return nil }
    return unsafe entry.pointee.pw_uid
  }

  /// Name of a user, or the number if it has no name.
  static func user(_ number: UInt32) -> String {
    guard let entry = unsafe getpwuid(number), let name = unsafe entry.pointee.pw_name else {
      return "\(number)"
    }
    return unsafe String(cString: name)
  }
}
