import LocationTypes

/// What the profile says of the receiver's line, in the words that an administrator put there.
public struct ReceiverTerms: Equatable, Sendable {
  /// In what the receiver takes commands.
  public enum Commands: Sendable {
    /// It takes none.
    case none
    /// UBX: u-blox.
    case frames
    /// Sentences: MediaTek, Airoha, CASIC.
    case sentences
  }

  /// The profile's `family`.
  public var family: String
  /// How such a one is commanded.
  public var takes: Commands
  /// The profile's `line_speed_baud`.
  public var speed_baud: Int
  /// Its `default_line_speed_baud`: at which a receiver talks that was told nothing yet.
  public var firstSpeed_baud: Int
  /// The line; nil where it is not known.
  public var device: String?

  /// Creates terms; those of a receiver that only talks, if nothing else is said.
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

/// What comes of a receiver, at some moment.
enum ReceiverSpeech: Equatable {
  /// Nothing.
  case silence
  /// Bytes that are no message.
  case noise
  /// Sentences, and no UBX.
  case sentences
  /// UBX, with sentences or without.
  case frames
}

/// How many messages of a kind have come, and when the last of them did.
struct MessageCount {
  private var count: UInt32 = 0
  private(set) var newest: Instant?

  /// So many have come so far.
  mutating func take(_ new: UInt32, at now: Instant) {
    guard new != count else { return }
    count = new
    newest = now
  }
}

extension ReceiverWatch {
  /// A receiver that is heard speaks more often.
  private static let silence = Interval.seconds(15)

  /// What comes of it now, since it worked last.
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
  /// What is the matter with a receiver that does not answer, and what helps, in one line: the log and the
  /// status say the same.
  func remedy(_ speech: ReceiverSpeech) -> String {
    switch speech {
    case .silence:
      "nothing comes\(device.map { " from \($0)" } ?? ""): is it connected and supplied, and does it talk at \(speeds)?"
    case .noise:
      takes == .none || firstSpeed_baud == speed_baud
        ? "what comes is no message at \(speeds): put its own speed into \(speedKey) of [receiver]; \(doctor)"
        : "what comes is no message; \(firstSpeed_baud) and \(speed_baud) baud are tried in turn:"
          + " if it stays so, put its own speed into \(speedKey) of [receiver]; \(doctor)"
    case .sentences: sentencesRemedy
    case .frames: framesRemedy
    }
  }

  private var sentencesRemedy: String {
    switch takes {
    case .none: "it sends sentences, and none that tells a time or a place"
    case .frames, .sentences:
      "it sends NMEA sentences, and answers no command of family \"\(family)\": is the board's TX connected to its RX?"
        + " If so, it is of another family; family = \"nmea\" in [receiver] takes what any receiver sends; \(doctor)"
    }
  }

  private var framesRemedy: String {
    switch takes {
    case .none: "it sends UBX, and no message that tells a time or a place"
    case .frames:
      "it sends UBX, as u-blox receivers do, and does not do what family \"\(family)\" is told:"
        + " is the board's TX connected to its RX? If so, family = \"\(family == "ublox-m10" ? "ublox-m8" : "ublox-m10")\" in [receiver]? \(doctor)"
    case .sentences:
      "it sends UBX, as u-blox receivers do, and the profile's family is \"\(family)\":"
        + " family = \"ublox-m8\" or \"ublox-m10\" in [receiver]; \(doctor)"
    }
  }

  /// The speeds at which it was listened to.
  private var speeds: String {
    takes == .none || firstSpeed_baud == speed_baud
      ? "\(speed_baud) baud" : "\(firstSpeed_baud) or \(speed_baud) baud"
  }

  /// Where the speed belongs at which it talks by itself.
  private var speedKey: String {
    takes == .none ? "line_speed_baud" : "default_line_speed_baud"
  }

  /// What finds out more.
  private var doctor: String { "with the service stopped, `torpor doctor` tells which it is" }
}
