extension SimulatedSentences {
  /// Airoha: acknowledges each command, also in standby. A new line speed is kept in flash and applies from the next
  /// start.
  static let airoha = SimulatedSentences(
    standbyRequest: "PAIR003", standbyInput: .executed,
    // A request for assistance data.
    startupSentences: ["PAIR010,1,-1"]
  ) { address, texts, _ in
    let fields = texts.map { Int($0) }
    let number = Int(address.dropFirst(4)) ?? 0
    let answer = "PAIR001,\(threeDigits(number)),"
    switch (address, fields.count) {
    case ("PAIR002", 0): return [.answer(answer + "0"), .leaveStandby]
    case ("PAIR003", 0): return [.answer(answer + "0"), .standby(seconds: 0)]
    // Version: release, followed by fields that no driver reads.
    case ("PAIR020", 0):
      return [
        .answer(answer + "0"),
        .send("PAIR020,AG3335M_V2.5.0.AG3335_20230424,S,N,1a2b3c4,2304241200"),
      ]
    case ("PAIR023", 0): return [.restart]
    case ("PAIR050", 1):
      guard let period = fields[0], (100...1_000).contains(period) else { break }
      return [
        .update { $0.current.interval = .milliseconds(Int64(period)) }, .answer(answer + "0"),
      ]
    case ("PAIR062", 2):
      guard let kind = fields[0], let rate = fields[1], (0...5).contains(kind) else { break }
      return [.update { $0.current.rates[kind] = rate }, .answer(answer + "0")]
    case ("PAIR864", 3):
      guard let speed = fields[2], speeds.contains(speed) else { break }
      return [.update { $0.stored.speed = UInt32(speed) }, .answer(answer + "0")]
    case _: return rejection(of: "\(number)", "unsupported", answer + "3")
    }
    return rejection(of: "\(number)", "invalid", answer + "4")
  }
}
