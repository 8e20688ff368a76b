extension SimulatedSentences {
  /// MediaTek: acknowledges each command.
  static let mediaTek = SimulatedSentences(
    standbyRequest: "PMTK161", startupSentences: ["PMTK011,MTKGPS", "PMTK010,001"]
  ) { address, texts, _ in
    let fields = texts.map { Int($0) }
    let number = Int(address.dropFirst(4)) ?? 0
    let answer = "PMTK001,\(threeDigits(number)),"
    switch (address, fields.count) {
    case ("PMTK000", 0): return [.answer(answer + "3")]
    // Version: release, build, model, version.
    case ("PMTK605", 0): return [.send("PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0")]
    case ("PMTK314", 19):
      // GLL, RMC, VTG, GGA, GSA, GSV.
      let rates = fields.map { $0 ?? 0 }
      return [
        .update {
          $0.current.rates = [rates[3], rates[0], rates[4], rates[5], rates[1], rates[2]]
        },
        .answer(answer + "3"),
      ]
    case ("PMTK220", 1):
      guard let period = fields[0], (100...10_000).contains(period) else {
        return rejection(of: "\(number)", "failed", answer + "2")
      }
      return [
        .update { $0.current.interval = .milliseconds(Int64(period)) }, .answer(answer + "3"),
      ]
    case ("PMTK251", 1):
      guard let speed = fields[0], speeds.contains(speed) else {
        return rejection(of: "\(number)", "failed", answer + "2")
      }
      return [.update { $0.current.speed = UInt32(speed) }, .answer(answer + "3")]
    case ("PMTK161", 1): return [.answer(answer + "3"), .standby(seconds: 0)]
    case _: return rejection(of: "\(number)", "unsupported", answer + "1")
    }
  }
}
