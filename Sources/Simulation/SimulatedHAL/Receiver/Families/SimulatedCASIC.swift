extension SimulatedSentences {
  /// CASIC: acknowledges nothing, and reports its firmware on request. It is not documented what remains of its RAM
  /// after standby; the simulated one keeps nothing.
  static let casic = SimulatedSentences(
    standbyRequest: "PCAS12", losesSettingsInStandby: true,
    startupSentences: ["GPTXT,01,01,02,MA=CASIC", firmware]
  ) { address, texts, _ in
    let fields = texts.map { Int($0) }
    switch (address, fields.count) {
    case ("PCAS01", 1):
      guard let code = fields[0], speeds.indices.contains(code) else { break }
      return [.update { $0.current.speed = UInt32(speeds[code]) }]
    case ("PCAS02", 1):
      guard let period = fields[0], (100...1_000).contains(period) else { break }
      return [.update { $0.current.interval = .milliseconds(Int64(period)) }]
    case ("PCAS03", 14):
      // An empty field leaves a setting unchanged.
      return [
        .update { settings in
          for i in 0..<6 { settings.current.rates[i] = fields[i] ?? settings.current.rates[i] }
        }
      ]
    case ("PCAS06", 1): return [.send(firmware)]
    case ("PCAS12", 1): return fields[0].map { [.standby(seconds: $0)] } ?? []
    case _: return [.violation("the CASIC receiver does not support the command \(address)")]
    }
    return []
  }

  private static let firmware = "GPTXT,01,01,02,SW=URANUS5,V5.3.0.0"
}
