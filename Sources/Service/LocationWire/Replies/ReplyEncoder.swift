import LocationTypes
import TextFormats

/// Encodes the replies of the service.
public enum ReplyEncoder {
  /// Appends the frame of a reply, with its NUL.
  public static func encode(
    _ reply: WireReply, continues: Bool = false, to json: inout JSONOutput
  ) {
    json.frame { json in
      if case .error(let error) = reply { json.member("error", error.name) }
      if continues { json.member("continues", true) }
      json.object("parameters") { reply.write(to: &$0) }
    }
  }

  /// The parameters of a reply as one JSON object, without frame and NUL, for the output of commands.
  public static func object(of reply: WireReply) -> [UInt8] {
    var json = JSONOutput()
    json.frame { reply.write(to: &$0) }
    return json.bytes.dropLast()
  }

  /// A notice as one JSON object, without frame and NUL.
  public static func object(of notice: WireNotice) -> [UInt8] {
    var json = JSONOutput()
    json.frame { notice.write(to: &$0) }
    return json.bytes.dropLast()
  }

  /// Appends one frame of a batch, with up to ``WireLimits/fixesPerReply`` fixes from `next`, which returns nil at the
  /// end. Allocates nothing if the output has enough capacity.
  ///
  /// - Returns: Number of fixes written; for 0 the output is unchanged.
  public static func encodeFixes(
    to json: inout JSONOutput, next: () -> StoredFix?
  ) -> Int {
    var count = 0
    let before = json.text.count
    json.frame { json in
      json.member("continues", true)
      json.object("parameters") { json in
        json.object("notice") { json in
          json.list("fixes") { json in
            while count < WireLimits.fixesPerReply, let fix = next() {
              fix.writeElement(to: &json)
              count += 1
            }
          }
        }
      }
    }
    if count == 0 { json.text.truncate(to: before) }
    return count
  }
}
