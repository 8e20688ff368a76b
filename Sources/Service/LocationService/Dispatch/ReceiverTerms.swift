import LocationTypes

/// Settings of the receiver's line from the profile, with the names that the administrator uses there.
public struct ReceiverTerms: Equatable, Sendable {
  /// Protocol in which the receiver accepts commands.
  public enum Commands: Sendable {
    /// None: the receiver only sends.
    case none
    /// UBX (u-blox).
    case frames
    /// NMEA sentences (MediaTek, Airoha, CASIC).
    case sentences
  }

  /// `family` of the profile.
  public var family: String
  /// Command protocol of the family.
  public var takes: Commands
  /// `line_speed_baud` of the profile.
  public var speed_baud: Int
  /// `default_line_speed_baud` of the profile: the speed of a receiver that was not configured yet.
  public var firstSpeed_baud: Int
  /// Device of the line; nil if not known.
  public var device: String?

  /// Creates settings. The default is a receiver that accepts no commands.
  public init(
    family: String = "nmea", takes: Commands = .none, speed_baud: Int = 9_600,
    firstSpeed_baud: Int? = nil, device: String? = nil
  ) {
    self.family = family
    self.takes = takes
    self.speed_baud = speed_baud
    self.firstSpeed_baud = firstSpeed_baud ?? speed_baud
    self.device = device
  }
}

/// Kind of input from the receiver.
enum ReceiverSpeech: Equatable {
  /// No input.
  case silence
  /// Bytes that contain no valid message.
  case noise
  /// NMEA sentences without UBX.
  case sentences
  /// UBX, with or without NMEA sentences.
  case frames
}

/// Number of messages of one protocol, and the time of the last.
struct MessageCount {
  private var count: UInt32 = 0
  private(set) var newest: Instant?

  /// Sets the total number of messages.
  mutating func take(_ new: UInt32, at now: Instant) {
    guard new != count else { return }
    count = new
    newest = now
  }
}

extension ReceiverWatch {
  /// Longer than the interval between messages of a receiver that is connected and running.
  private static let silence = Interval.seconds(15)

  /// The current kind of input, since the receiver last worked normally.
  func speech(at now: Instant) -> ReceiverSpeech {
    func isNow(_ time: Instant?) -> Bool {
      guard let time, time > worked else { return false }
      return now - time < ReceiverWatch.silence
    }
    if isNow(frames.newest) { return .frames }
    if isNow(sentences.newest) { return .sentences }
    return isNow(heard) ? .noise : .silence
  }
}

extension ReceiverTerms {
  /// The probable cause of a receiver that does not respond, and how to fix it, in one line for log and status.
  func remedy(_ speech: ReceiverSpeech) -> String {
    switch speech {
    case .silence:
      "no input\(device.map { " from \($0)" } ?? ""): check that it is connected, powered and set to \(speeds)"
    case .noise:
      takes == .none || firstSpeed_baud == speed_baud
        ? "the input contains no valid message at \(speeds): "
          + "set \(speedKey) in [receiver] to the receiver's own speed; \(doctor)"
        : "the input contains no valid message; \(firstSpeed_baud) and \(speed_baud) baud are tried alternately."
          + " If this persists, set \(speedKey) in [receiver] to the receiver's own speed; \(doctor)"
    case .sentences: sentencesRemedy
    case .frames: framesRemedy
    }
  }

  private var sentencesRemedy: String {
    switch takes {
    case .none: "it sends NMEA sentences, but none with a time or a position"
    case .frames, .sentences:
      "it sends NMEA sentences, but answers no command of family \"\(family)\": check that the board's TX is connected"
        + " to its RX. If it is, the receiver is of another family; "
        + "family = \"nmea\" in [receiver] accepts any; \(doctor)"
    }
  }

  private var framesRemedy: String {
    switch takes {
    case .none: "it sends UBX, but no message with a time or a position"
    case .frames:
      "it sends UBX, as u-blox receivers do, but does not follow commands of family \"\(family)\":"
        + " check that the board's TX is connected to its RX. If it is, try "
        + "family = \"\(family == "ublox-m10" ? "ublox-m8" : "ublox-m10")\" in [receiver]; \(doctor)"
    case .sentences:
      "it sends UBX, as u-blox receivers do, but the profile's family is \"\(family)\":"
        + " set family = \"ublox-m8\" or \"ublox-m10\" in [receiver]; \(doctor)"
    }
  }

  /// Speeds that are tried.
  private var speeds: String {
    takes == .none || firstSpeed_baud == speed_baud
      ? "\(speed_baud) baud" : "\(firstSpeed_baud) or \(speed_baud) baud"
  }

  /// Key of the profile for the receiver's own speed.
  private var speedKey: String {
    takes == .none ? "line_speed_baud" : "default_line_speed_baud"
  }

  /// How to find the cause.
  private var doctor: String { "with the service stopped, `torpor doctor` identifies the receiver" }
}
