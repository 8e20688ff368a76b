/// Error of ``GPXReader``: what is wrong in a file, and at which line and column.
public struct GPXError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Kind of the error.
  public enum Problem: Equatable, Sendable {
    /// Not well-formed XML; the message is expat's.
    case notXML(String)
    /// The file ends inside the document.
    case truncated
    /// An encoding that is not UTF-8, UTF-16, ISO-8859-1 or US-ASCII.
    case unknownEncoding
    /// Entities expand to far more text than the file contains.
    case entityExpansion
    /// Well-formed XML with another root element.
    case notGPX(root: String)
    /// A point without latitude or longitude.
    case missing(attribute: String, element: String)
    /// A value is not a decimal number.
    case notANumber(name: String, found: String)
    /// A number outside its allowed range.
    case outOfRange(name: String, found: String, allowed: String)
    /// A time that is no valid `xsd:dateTime`.
    case badTime(found: String)
    /// Elements nested more deeply than ``GPXReader/maximumNesting``.
    case nestedTooDeep
    /// More points than ``GPXReader/maximumPoints``.
    case tooManyPoints
    /// A file longer than ``GPXReader/maximumLength``.
    case tooLong
    /// A tag or comment longer than ``GPXReader/maximumTokenLength``.
    case tokenTooLong
    /// Memory allocation for the parser failed.
    case noMemory
  }

  /// Position of the error in the file.
  public var position: GPXTextPosition
  /// Kind of the error.
  public var problem: Problem

  /// Message with a suggestion, without the position.
  public var description: String {
    switch problem {
    case .notXML(let why): "not well-formed XML: \(why); export the file again, or correct it here"
    case .truncated:
      "the file ends here, in the middle of the document; download or export it again"
    case .unknownEncoding:
      "unknown character encoding; convert the file to UTF-8, for example with iconv, "
        + "and declare UTF-8 in its first line"
    case .entityExpansion:
      "the file's XML entities expand to many times its size, so it is rejected; save it without entities"
    case .notGPX(let root): "this is <\(root)> and not <gpx>; save the track as GPX 1.1 or 1.0"
    case .missing(let attribute, let element):
      "<\(element)> has no \(attribute); every point needs one"
    case .notANumber(let name, let found): "\(name) must be a decimal number, not “\(found)”"
    case .outOfRange(let name, let found, let allowed):
      "\(name) \(found) is out of range; allowed is \(allowed)"
    case .badTime(let found):
      "time must have the form 2014-04-03T08:54:11Z, optionally with a fraction or an offset, "
        + "not “\(found)”"
    case .nestedTooDeep:
      "elements are nested more than \(GPXReader.maximumNesting) deep; is this a GPX file?"
    case .tooManyPoints: "more than \(GPXReader.maximumPoints) points; split the file"
    case .tokenTooLong:
      "a tag or comment of more than \(GPXReader.maximumTokenLength >> 20) MB; is this a GPX file?"
    case .tooLong: "the file is larger than \(GPXReader.maximumLength >> 20) MB; split it"
    case .noMemory: "not enough memory to read the file"
    }
  }
}
