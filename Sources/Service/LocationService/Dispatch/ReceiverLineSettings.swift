import GNSSProtocols
import LocationTypes

// Suggestions about a receiver that does not respond, from the settings of its line and its recent input.

/// Settings of the receiver's line from the profile, with the names that the administrator uses there.
public struct ReceiverLineSettings: Equatable, Sendable {
  /// `family` of the profile.
  public var family: ReceiverFamily
  /// `line_speed_baud` of the profile.
  public var speed_baud: Int
  /// `default_line_speed_baud` of the profile: the speed of a receiver that was not configured yet.
  public var defaultSpeed_baud: Int
  /// Device of the line; nil if not known.
  public var device: String?

  /// Creates settings. The default is a receiver that accepts no commands.
  public init(
    family: ReceiverFamily = .passive, speed_baud: Int = 9_600, defaultSpeed_baud: Int? = nil,
    device: String? = nil
  ) {
    self.family = family
    self.speed_baud = speed_baud
    self.defaultSpeed_baud = defaultSpeed_baud ?? speed_baud
    self.device = device
  }
}

/// Kind of input from the receiver.
enum ReceiverInput: Equatable {
  /// No input.
  case nothing
  /// Bytes that contain no valid message.
  case unrecognized
  /// NMEA sentences without UBX.
  case nmea
  /// UBX, with or without NMEA sentences.
  case ubx
}

/// Number of messages of one protocol, and the time of the last.
struct MessageCount {
  private var count: UInt32 = 0
  private(set) var newest: Instant?

  /// Sets the total number of messages.
  mutating func update(_ new: UInt32, at now: Instant) {
    guard new != count else { return }
    count = new
    newest = now
  }
}

extension ReceiverMonitor {
  /// Time after which input is out of date: longer than the interval between messages of a running receiver.
  private static let silenceTimeout = Interval.seconds(15)

  /// The current kind of input, since the receiver last worked normally.
  func input(at now: Instant) -> ReceiverInput {
    func isCurrent(_ time: Instant?) -> Bool {
      guard let time, time > lastWorking else { return false }
      return now - time < ReceiverMonitor.silenceTimeout
    }
    if isCurrent(frames.newest) { return .ubx }
    if isCurrent(sentences.newest) { return .nmea }
    return isCurrent(lastInput) ? .unrecognized : .nothing
  }
}

extension ReceiverLineSettings {
  private var commandProtocol: CommandProtocol { family.descriptor.commandProtocol }

  /// The probable reason why the receiver does not respond, and how to fix it, in one line for log and status.
  func suggestion(_ input: ReceiverInput) -> String {
    switch input {
    case .nothing:
      "no input\(device.map { " from \($0)" } ?? ""): check that it is connected, powered and set to \(speeds)"
    case .unrecognized:
      commandProtocol == .none || defaultSpeed_baud == speed_baud
        ? "the input contains no valid message at \(speeds): "
          + "set \(speedKey) in [receiver] to the receiver's own speed; \(doctorHint)"
        : "the input contains no valid message; \(defaultSpeed_baud) and \(speed_baud) baud are tried alternately."
          + " If this persists, set \(speedKey) in [receiver] to the receiver's own speed; \(doctorHint)"
    case .nmea: nmeaSuggestion
    case .ubx: ubxSuggestion
    }
  }

  private var nmeaSuggestion: String {
    switch commandProtocol {
    case .none: "it sends NMEA sentences, but none with a time or a position"
    case .ubx, .sentences:
      "it sends NMEA sentences, but answers no command of family \"\(family.name)\": check that the board's TX is connected"
        + " to its RX. If it is, the receiver is of another family; "
        + "family = \"nmea\" in [receiver] accepts any; \(doctorHint)"
    }
  }

  private var ubxSuggestion: String {
    switch commandProtocol {
    case .none: "it sends UBX, but no message with a time or a position"
    case .ubx:
      "it sends UBX, as u-blox receivers do, but does not follow commands of family \"\(family.name)\":"
        + " check that the board's TX is connected to its RX. If it is, try "
        + "family = \"\(family == .ubloxM10 ? "ublox-m8" : "ublox-m10")\" in [receiver]; \(doctorHint)"
    case .sentences:
      "it sends UBX, as u-blox receivers do, but the profile's family is \"\(family.name)\":"
        + " set family = \"ublox-m8\" or \"ublox-m10\" in [receiver]; \(doctorHint)"
    }
  }

  /// Speeds that are tried.
  private var speeds: String {
    commandProtocol == .none || defaultSpeed_baud == speed_baud
      ? "\(speed_baud) baud" : "\(defaultSpeed_baud) or \(speed_baud) baud"
  }

  /// Key of the profile for the receiver's own speed.
  private var speedKey: String {
    commandProtocol == .none ? "line_speed_baud" : "default_line_speed_baud"
  }

  /// How to find the cause.
  private var doctorHint: String {
    "with the service stopped, `torpor doctor` identifies the receiver"
  }
}
