import LocationWire
import TextFormats

/// Chunk boundaries do not change the frames. An encoded call or reply decodes to the same value, and
/// encoded text contains no NUL before its terminator.
///
/// Input: one byte of chunk lengths; one byte that selects the call of a reply; then the bytes of the socket.
enum WireProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let chunks = ChunkLengths(reader.byte())
    let call = calls[Int(reader.byte()) % calls.count]
    let bytes = reader.remainingBytes()
    let whole = frames(bytes, nil)
    let parts = frames(bytes, chunks)
    trial.require(whole == parts, "chunk boundaries change the frames")
    for case .some(let frame) in whole {
      checkCall(frame, &trial)
      checkReply(frame, to: call, &trial)
    }
    if let fix = FixRecord.decode(bytes.span) {
      trial.countDecoded()
      var output = JSONOutput()
      FixRecord.append(fix, to: &output)
      let record = output.bytes
      trial.require(FixRecord.decode(record.span) == fix, "a record decodes to another fix")
    }
    _ = FixRecordHeader(bytes.span)
  }

  private static let calls: [WireCall] = [
    .watch(session: 1), .getInfo, .getInterfaceDescription(""), .connect(name: "a"),
    .openLive(.default), .getLocation, .getStatus, .getPowerPlan, .getEnergy, .drain(session: 1),
    .readBacklog(name: "a"),
    .listRegions, .listClients, .startUpdating, .getMetrics,
  ]

  /// The frames; nil for each that exceeds the limit.
  private static func frames(_ bytes: [UInt8], _ chunks: ChunkLengths?) -> [[UInt8]?] {
    var splitter = FrameSplitter(limit: 1_024)
    var all: [[UInt8]?] = []
    for range in chunkRanges(bytes.count, chunks) {
      let chunk = Array(bytes[range])
      var offset = 0
      reading: while true {
        switch splitter.next(in: chunk.span, at: &offset) {
        case .needsMore: break reading
        case .frame: all.append(splitter.frame)
        case .oversize: all.append(nil)
        }
      }
    }
    return all
  }

  private static func checkCall(_ frame: [UInt8], _ trial: inout PropertyResult) {
    guard let read = try? CallDecoder.decode(frame) else { return }
    trial.countDecoded()
    var json = JSONOutput()
    CallEncoder.encode(read.call, to: &json)
    let again = try? CallDecoder.decode(withoutTerminator(json, &trial))
    trial.require(again?.call == read.call, "a call decodes to another one: \(read.call)")
  }

  private static func checkReply(_ frame: [UInt8], to call: WireCall, _ trial: inout PropertyResult)
  {
    guard let read = try? ReplyDecoder.decode(frame, to: call) else { return }
    trial.countDecoded()
    // An error with unexpected parameters is encoded without them, so it may decode to another error.
    if case .error(.other) = read.reply { return }
    var json = JSONOutput()
    ReplyEncoder.encode(read.reply, continues: read.continues, to: &json)
    let again = try? ReplyDecoder.decode(withoutTerminator(json, &trial), to: call)
    trial.require(again?.reply == read.reply, "a reply decodes to another one: \(read.reply)")
  }

  /// The frame without its terminating NUL; requires that it contains no other NUL.
  private static func withoutTerminator(_ json: borrowing JSONOutput, _ trial: inout PropertyResult)
    -> [UInt8]
  {
    let bytes = json.bytes
    trial.require(bytes.firstIndex(of: 0) == bytes.count - 1, "a NUL within a frame")
    return Array(bytes.dropLast())
  }

  static let seeds: [[UInt8]] =
    texts.map { [0, 0] + Array($0.utf8) + [0] }
    + replies.map { [200, $0.0] + Array($0.1.utf8) + [0] }

  static let dictionary = [
    #"{\"method\":\"org.torpor.Location."#, #"\"parameters\":{"#, #"\"more\":true"#,
    #"\"fixes\":["#,
    "null", "1e999", "99999999999999999999", #"\\ud83d\\ude00"#, "\\x00", "\\xf0\\x9f\\x98\\x80",
    "latitude_deg", "longitude_deg", "boot_us", "generation", "sequence", "session",
  ]

  private static let texts = [
    #"{"method":"org.varlink.service.GetInfo"}"#,
    #"{"method":"org.torpor.Location.Watch","more":true,"parameters":{"session":1}}"#,
    #"{"method":"org.torpor.Location.AllowDeferred","parameters":{"distance_m":1e3,"timeout_s":null}}"#,
    #"{"method":"org.torpor.Location.AddRegion","parameters":{"kind":"region","name":"a\u00e9\n","#
      + #""latitude_deg":-90,"longitude_deg":180.0,"radius_m":1}}"#,
    #"{"method":"org.torpor.Location.AddRegion","parameters":{"kind":"condition","name":"b","#
      + #""latitude_deg":1.5,"longitude_deg":0,"radius_m":100,"assuming":"satisfied"}}"#,
    #"{"method":"org.torpor.Location.Acknowledge","oneway":true,"parameters":{"generation":7,"#
      + #""sequence":41}}"#,
  ]

  private static let replies: [(UInt8, String)] = [
    (
      0,
      #"{"continues":true,"parameters":{"notice":{"fixes":[{"generation":7,"sequence":1,"boot_us":2,"#
        + #""latitude_deg":52.5162745,"longitude_deg":-13.3,"altitude_m":-1.5,"mode":"3d"}]}}}"#
    ),
    (0, #"{"parameters":{"notice":{"gap":{"count":2,"first":3,"next":5,"may_be_more":true}}}}"#),
    (
      0,
      #"{"parameters":{"notice":{"live":{"number":1,"flags":["accuracy_limited"],"stationary":true}}}}"#
    ),
    (
      3,
      #"{"parameters":{"session":1,"authorization":"always","reduced_accuracy":false,"#
        + #""deferral_available":true}}"#
    ),
    (
      7,
      #"{"parameters":{"plan":{"receiver":"batching","watermark":9,"board":"off","listens":false}}}"#
    ),
    (11, #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"x"}}"#),
  ]
}
