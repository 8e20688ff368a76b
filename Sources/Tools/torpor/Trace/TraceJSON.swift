import LocationPolicy
import LocationSimulation
import LocationTypes
import LocationWire
import TextFormats

/// Writes the trace as JSON Lines; the format is in Docs/Reference/trace.md.
enum TraceJSON {
  /// Adds the line of `record`.
  static func write(_ record: TraceRecord, to json: inout JSONOutput) {
    json.line { json in
      json.member("t", record.at.microseconds, scale: 6)
      switch record.kind {
      case .receiver(let state, let power_mw):
        json.member("kind", "receiver")
        json.member("state", state.name)
        json.member("mw", power_mw)
      case .board(let state, let power_mw):
        json.member("kind", "board")
        json.member("state", state.jsonName)
        json.member("mw", power_mw)
      case .fix(let fix): write(fix, to: &json)
      case .wake(let reason):
        json.member("kind", "wake")
        json.member("reason", reason.jsonName)
      case .battery(let charge):
        json.member("kind", "battery")
        json.member("percent", Int64(charge))
      case .batteryEmpty: json.member("kind", "empty")
      case .batch(let client, let first, let last, let count):
        json.member("kind", "batch")
        json.member("client", Int64(client))
        json.member("first", Int64(first))
        json.member("last", Int64(last))
        json.member("count", Int64(count))
      case .ack(let client, let sequence):
        json.member("kind", "ack")
        json.member("client", Int64(client))
        json.member("seq", Int64(sequence))
      case .finish(let client, let code):
        json.member("kind", "finish")
        json.member("client", Int64(client))
        if let code {
          json.member("code", Int64(code.rawValue))
        } else {
          json.member("code", json: "null")
        }
      case .gap(let client, let count, let from, let to):
        json.member("kind", "gap")
        json.member("client", Int64(client))
        json.member("count", Int64(count))
        if let from { json.member("from", from.microseconds, scale: 6) }
        if let to { json.member("to", to.microseconds, scale: 6) }
      case .notice(let client, let notice):
        json.member("kind", "told")
        json.member("client", Int64(client))
        write(notice, to: &json)
      }
    }
  }

  private static func write(_ notice: TraceNotice, to json: inout JSONOutput) {
    json.member("what", notice.name)
    switch notice {
    case .report(let sequence): json.member("seq", Int64(sequence))
    case .arrived(let coordinate, let at), .departed(let coordinate, let at):
      json.member("lat", coordinate.latitude_e9, scale: 9)
      json.member("lon", coordinate.longitude_e9, scale: 9)
      if let at { json.member("at", at.microseconds, scale: 6) }
    case .paused, .resumed: break
    case .entered(let region), .exited(let region): json.member("region", Int64(region))
    case .stationary(let isStationary): json.member("stands", isStationary)
    case .flags(let flags):
      json.list("flags") { json in for word in flags.words { json.element(word: word) } }
    case .degraded(let shed, let charge):
      json.member("percent", Int64(charge))
      json.list("given_up") { json in
        for level in shed.levels { json.element(text: level.jsonName) }
      }
    case .failed(let code): json.member("code", Int64(code.rawValue))
    }
  }

  private static func write(_ fix: TraceFix, to json: inout JSONOutput) {
    json.member("kind", "fix")
    json.member("generation", Int64(fix.name.generation))
    json.member("seq", Int64(fix.name.sequence))
    if let utc = fix.utc { json.member("unix_time", utc.microseconds, scale: 6) }
    json.member("lat", fix.coordinate.latitude_e9, scale: 9)
    json.member("lon", fix.coordinate.longitude_e9, scale: 9)
    if let accuracy = fix.horizontalAccuracy_mm {
      json.member("hacc", Int64(accuracy), scale: 3)
    }
  }

  /// Adds the last line, with the totals of the run.
  static func write(
    _ summary: TraceSummary, _ comparison: OptimumComparison? = nil, to json: inout JSONOutput
  ) {
    json.line { json in
      json.member("kind", "summary")
      json.member("fixes", Int64(summary.fixes))
      json.member("delivered", Int64(summary.delivered))
      json.member("batches", Int64(summary.batches))
      json.member("finishes", Int64(summary.finishes))
      json.member("refusals", Int64(summary.deferralErrors))
      json.member("lost", Int64(summary.lost))
      json.member("notices", Int64(summary.notices))
      if !summary.noticesByKind.isEmpty {
        json.object("told") { json in
          for kind in TraceNotice.Kind.allCases {
            if let count = summary.noticesByKind[kind] {
              json.member(name: kind.rawValue, Int64(count))
            }
          }
        }
      }
      json.member("host_wakes", Int64(summary.hostWakes))
      json.member("awake_s", summary.awakeTime.microseconds, scale: 6)
      json.member("processor_s", summary.processorTime.microseconds, scale: 6)
      json.member("suspended_s", summary.suspendedTime.microseconds, scale: 6)
      json.member(
        "not_suspended_s", (summary.duration - summary.suspendedTime).microseconds, scale: 6)
      json.member("max_delay_s", summary.longestDelay.microseconds, scale: 6)
      json.member("duration_s", summary.duration.microseconds, scale: 6)
      if let energy = summary.energy { write(energy, to: &json) }
      if let comparison { write(comparison, to: &json) }
    }
  }

  private static func write(_ comparison: OptimumComparison, to json: inout JSONOutput) {
    json.object("promise") { json in
      json.member("bound_m", comparison.bound_m)
      json.member("seconds", Int64(comparison.error.seconds))
      json.member("broken_s", Int64(comparison.error.exceededSeconds))
      json.member("broken_share", comparison.error.exceededShare)
      json.member("p95_m", comparison.error.p95_m)
      json.member("worst_m", comparison.error.maximum_m)
      json.member("receiver_mj", comparison.receiver_mJ)
      json.member("optimum_mj", comparison.optimum_mJ)
      if let ratio = comparison.ratio { json.member("ratio", ratio) }
      json.member("total_mj", comparison.total_mJ)
      json.member("total_optimum_mj", comparison.totalOptimum_mJ)
      if let ratio = comparison.totalRatio { json.member("total_ratio", ratio) }
    }
  }

  private static func write(_ energy: TraceEnergy, to json: inout JSONOutput) {
    json.member("receiver_mj", energy.receiver_mJ)
    json.member("board_mj", energy.board_mJ)
    json.member("receiver_mj_always_on", energy.receiverAlwaysOn_mJ)
    json.member("board_mj_gpsd", energy.boardGpsd_mJ)
    json.member("board_mj_always_awake", energy.boardAlwaysAwake_mJ)
    json.object("receiver_s") { json in
      for use in energy.receiverUses {
        json.member(name: use.name, use.time.microseconds, scale: 6)
      }
    }
    json.object("board_s") { json in
      for use in energy.boardUses { json.member(name: use.name, use.time.microseconds, scale: 6) }
    }
  }
}
