import ArgumentParser
import Glibc
import LinuxHAL
import LocationPolicy
import LocationWire

/// `torpor clients`.
struct ClientsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clients",
    abstract: "List the service's clients, and decide what they may; for administrators.",
    discussion: """
      A client is a user and the name by which one of that user's programs calls itself: \
      USER/NAME, the user by name or number. A client is known from its first connection on. What \
      is decided here counts where the administrator's file, clients.toml, leaves it open.

        torpor clients list
        torpor clients allow pi/trail-log
        torpor clients reduce 1000/weather
        torpor clients forget pi/old-game

      Of clients without permission the service keeps the 4 of each user that connected last, and \
      32 of all users; a restart forgets them. It keeps a decision until 'forget' removes it.
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
    commandName: "list", abstract: "List every client that is known, and what it may.")

  @OptionGroup var socket: SocketOption

  @Flag(help: "One JSON object, as ListClients of the socket has it.")
  var json = false

  func run() throws {
    let reply = try socket.ask(.listClients)
    guard case .clients(let clients) = reply else { throw SocketOption.strange }
    var output = Output()
    if json {
      try output.write(ReplyEncoder.object(of: reply) + [UInt8(ascii: "\n")])
    } else if clients.isEmpty {
      try output.write(Array("no client has connected yet\n".utf8))
    } else {
      var text = TextBuffer()
      ClientsList.table(clients).write(to: &text, style: .ofStandardOutput)
      try output.write(text.bytes)
    }
    try output.finish()
  }

  private static func table(_ clients: [WireClient]) -> TextTable {
    var table = TextTable(
      ["client", "user", "may use location", "accuracy", "process"], leftColumns: 5)
    for client in clients {
      table.add([
        LogText.cleaned(client.name.name), ClientName.user(client.name.user),
        words(client.authorization) + (client.asks.map { ", asks for: \(words($0))" } ?? ""),
        client.isReduced ? "reduced" : "full",
        StatusText.process(client.execution)
          + (client.hasBackgroundSession ? ", background session" : ""),
      ])
    }
    return table
  }

  static func words(_ authorization: Authorization) -> String {
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

  @Flag(help: "Only while a process of it is in the foreground, instead of always.")
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
    abstract: "Take location from a client, at once: what it was not told yet, too.")

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
    abstract: "Let a client know no more than about where it is: 5 km, a few times an hour.")

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
    try decision.send(.forgetClient(decision.client), "is forgotten") {
      $0.member("forgotten", true)
    }
  }
}

/// The client that a command decides about, and how the decision is printed.
struct ClientDecision: ParsableArguments {
  @OptionGroup var socket: SocketOption

  @Flag(
    help: "One JSON object: user, name and what was decided, as ListClients of the socket has it.")
  var json = false

  @Argument(help: ClientName.help, transform: ClientName.read)
  var client: WireClientName

  /// Sends the decision to the service, and prints what holds from now on.
  ///
  /// - Parameters:
  ///   - call: The decision.
  ///   - what: The same as a sentence without its subject.
  ///   - member: Writes the same as a member of the JSON object.
  func send(
    _ call: WireCall, _ what: String, _ member: (inout JSONWriter) -> Void
  ) throws {
    _ = try socket.ask(call)
    var output = Output()
    var line = JSONWriter()
    line.begin()
    line.member("user", Int64(client.user))
    line.member("name", client.name)
    member(&line)
    line.end()
    let text = "\(LogText.cleaned(client.name)) of \(ClientName.user(client.user)) \(what)\n"
    try output.write(json ? line.text.bytes : Array(text.utf8))
    try output.finish()
  }
}

/// A client as it is named on the command line.
enum ClientName {
  static let help = ArgumentHelp(
    "The client: USER/NAME, the user by name or number.", valueName: "user/name")

  /// Reads `pi/trail-log`.
  static func read(_ text: String) throws -> WireClientName {
    guard let cut = text.firstIndex(of: "/"), cut > text.startIndex else {
      throw ValidationError("it should be USER/NAME, for example pi/trail-log or 1000/trail-log")
    }
    let user = String(text[..<cut])
    let name = String(text[text.index(after: cut)...])
    guard WireName.isValidClient(name) else {
      throw ValidationError(
        "behind the / should stand the client's name: 1 to \(WireLimits.clientName) bytes, no control characters"
      )
    }
    guard let number = UInt32(user) ?? number(of: user) else {
      throw ValidationError(
        "there is no user '\(user)' on this board; `id -u` tells a user's number")
    }
    return WireClientName(user: number, name: name)
  }

  private static func number(of user: String) -> UInt32? {
    guard let entry = unsafe getpwnam(user) else { return nil }
    return unsafe entry.pointee.pw_uid
  }

  /// A user by name where there is one, else by number.
  static func user(_ number: UInt32) -> String {
    guard let entry = unsafe getpwuid(number), let name = unsafe entry.pointee.pw_name else {
      return "\(number)"
    }
    return unsafe String(cString: name)
  }
}
