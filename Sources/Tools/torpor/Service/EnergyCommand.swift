import ArgumentParser
import BoardHardware
import LocationTypes
import LocationWire
import TextFormats

/// `torpor energy`.
struct EnergyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "energy",
    abstract: "Estimate time and energy of each power state since the service started.",
    discussion: """
      Energy is the time in each state, which is measured, times the power of that state in the \
      board's profile; it is an estimate, not a measurement. The board counts as awake while the \
      service uses the CPU, as suspended according to the kernel's clocks, and otherwise as idle.
      """)

  @OptionGroup var socket: SocketOption

  @Flag(help: "Print one JSON object, the reply of the socket's GetEnergy.")
  var json = false

  func run() throws {
    let energy = try socket.request { try $0.getEnergy() }
    if json { return try Output.print(reply: .energy(energy)) }
    try Output.print(EnergyText.text(energy, style: .ofStandardOutput).bytes)
  }
}

/// Human-readable output of `torpor energy`.
enum EnergyText {
  static func text(_ energy: WireEnergy, style: Style) -> TextBuffer {
    var text = TextBuffer()
    let length = energy.until.acquired - energy.since.acquired
    text.add(
      "In \(HumanFormat.duration(length)), estimated with the powers in the board's profile:\n"
    )
    var table = TextTable(["", "time", "share", "energy", "average"], leftColumns: 1)
    table.add(total("receiver", energy.receiver_mJ, length))
    for state in ReceiverPowerState.allCases where energy[state] > .zero {
      table.add(row(state.name, energy[state], length))
    }
    table.add(total("board", energy.board_mJ, length))
    for state in [BoardState.awake, .idle, .suspended, .off] where energy[state] > .zero {
      table.add(row(state.jsonName, energy[state], length))
    }
    table.add(total("total", energy.receiver_mJ + energy.board_mJ, length))
    table.write(to: &text, style: style)
    text.add(wakes(energy, length))
    return text
  }

  private static func total(_ name: String, _ mJ: Double, _ length: Interval) -> [String] {
    let average = length > .zero ? HumanFormat.power(mJ / length.seconds, places: 1) : "-"
    return [name, "", "", HumanFormat.energy(mJ), average]
  }

  private static func row(_ name: String, _ time: Interval, _ length: Interval) -> [String] {
    let share = HumanFormat.share(time.seconds, of: length.seconds)
    return ["  " + name, HumanFormat.duration(time), share, "", ""]
  }

  private static func wakes(_ energy: WireEnergy, _ length: Interval) -> String {
    guard energy.hostWakes > 0 else { return "The service has not been woken yet.\n" }
    let reasons: [(WakeReason, String)] = [
      (.alarm, "by an alarm"), (.bytes, "by data of the receiver"), (.batchPin, "by its batch pin"),
      (.request, "by a program"), (.motion, "by motion"),
    ]
    let parts = reasons.filter { energy[$0.0] > 0 }.map {
      "\(HumanFormat.count(Int(clamping: energy[$0.0]))) \($0.1)"
    }
    let all = HumanFormat.times(Int(clamping: energy.hostWakes))
    return "The service was woken \(all): \(parts.joined(separator: ", ")).\n"
  }
}
