/// Why a text is no GPX that can be read.
public struct GPXError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Equatable, Sendable {
    /// Not well-formed XML; the parser's own words.
    case notXML(String)
    /// The text ends before the document does.
    case cutOff
    /// An encoding that is not UTF-8, UTF-16, ISO-8859-1 or US-ASCII.
    case unknownEncoding
    /// Entities that make far more text than they are.
    case entityExpansion
    /// Well-formed XML whose outermost element is another.
    case notGPX(root: String)
    /// A point without latitude or longitude.
    case missing(attribute: String, element: String)
    /// A value that must be a decimal number is none.
    case notANumber(name: String, found: String)
    /// A number beyond what it may be.
    case outOfRange(name: String, found: String, allowed: String)
    /// A time that is none.
    case badTime(found: String)
    /// More elements inside each other than ``GPXReader/mostNested``.
    case tooDeep
    /// More points than ``GPXReader/mostPoints``.
    case tooManyPoints
    /// A longer text than ``GPXReader/longestText``.
    case tooLong
    /// A tag or comment is longer than ``GPXReader/longestToken``.
    case tokenTooLong
    /// No memory for a parser.
    case noMemory
  }

  /// Where.
  public var place: GPXPlace
  /// What is wrong.
  public var problem: Problem

  /// Creates an error.
  public init(place: GPXPlace, problem: Problem) {
    self.place = place
    self.problem = problem
  }

  /// What is wrong and what to do about it; the place is not in it.
  public var description: String {
    switch problem {
    case .notXML(let why): "not well-formed XML: \(why); export the file again, or mend this place"
    case .cutOff: "the file ends here, in the middle of the document; fetch or export it again"
    case .unknownEncoding:
      "this encoding is not known; convert the file to UTF-8, for example with iconv, "
        + "and let its first line say so"
    case .entityExpansion:
      "entities blow this file up to many times its size; it will not be read: save it without them"
    case .notGPX(let root): "this is <\(root)> and not <gpx>; save the track as GPX 1.1 or 1.0"
    case .missing(let attribute, let element):
      "<\(element)> has no \(attribute); every point needs one"
    case .notANumber(let name, let found): "\(name) must be a decimal number, not “\(found)”"
    case .outOfRange(let name, let found, let allowed):
      "\(name) \(found) is out of range; allowed is \(allowed)"
    case .badTime(let found):
      "time must be as 2014-04-03T08:54:11Z, with a fraction or an offset if one likes, "
        + "not “\(found)”"
    case .tooDeep:
      "more than \(GPXReader.mostNested) elements inside each other; no GPX is like that"
    case .tooManyPoints: "more than \(GPXReader.mostPoints) points; cut the file up"
    case .tokenTooLong:
      "a tag or comment of more than \(GPXReader.longestToken >> 20) MB; is this a GPX file?"
    case .tooLong: "more than \(GPXReader.longestText >> 20) MB; cut the file up"
    case .noMemory: "there is no memory to read it"
    }
  }
}
