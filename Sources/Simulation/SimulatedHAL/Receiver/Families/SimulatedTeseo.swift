import LocationTypes

extension SimulatedSentences {
  /// Teseo: commands change a copy of the configuration, which `$PSTMSAVEPAR` writes to flash and a start loads (UM2791
  /// §2.1.1). In standby it receives nothing.
  static let teseo = SimulatedSentences(
    standbyRequest: "PSTMFORCESTANDBY", standbyInput: .ignored, losesSettingsInStandby: true,
    startupSentences: ["GPTXT,(C)2000-2018 ST Microelectronics", version]
  ) { address, fields, settings in
    switch (address, fields.count) {
    case ("PSTMGETSWVER", 1): return [.answer(version)]
    case ("PSTMGETPAR", 1):
      guard let value = report(of: fields[0], settings.edited) else { break }
      return [.answer("PSTMSETPAR,\(fields[0]),\(value)")]
    case ("PSTMSETPAR", 2):
      guard let edited = edited(settings.edited, fields[0], fields[1]) else { break }
      return [.update { $0.edited = edited }, .answer("PSTMSETPAROK,\(fields[0])")]
    case ("PSTMSAVEPAR", 0):
      return [.update { $0.storeEdited() }, .answer("PSTMSAVEPAROK")]
    case ("PSTMSRR", 0): return [.restart]
    // Only GSV is supported. The receiver repeats the command.
    case ("PSTMNMEAREQUEST", 2):
      guard Int(fields[0], radix: 16) == 0x8_0000, fields[1] == "0" else { break }
      return [.send("PSTMNMEAREQUEST,80000,0"), .sendSatellites]
    case ("PSTMFORCESTANDBY", 1):
      guard let seconds = Int(fields[0]), (0...65_535).contains(seconds) else { break }
      return [.answer("PSTMFORCESTANDBYOK"), .standby(seconds: seconds)]
    case _: break
    }
    return rejection(of: address, "failed", address + "ERROR")
  }

  private static let version = "PSTMVER,BINIMG_4.5.5_ARM"

  /// Bits of GGA, GLL, GSA, GSV, RMC, VTG in the list of sentences (UM2791 §12.17).
  private static let bits = [0x2, 0x10_0000, 0x4, 0x8_0000, 0x40, 0x10]

  /// Codes of line speeds (UM2791 §12.2).
  private static let codes: [UInt32] = [
    300, 600, 1_200, 2_400, 4_800, 9_600, 14_400, 19_200, 38_400, 57_600, 115_200, 230_400,
    460_800, 921_600,
  ]

  /// The value of a parameter as the receiver reports it; nil for one that it does not have.
  private static func report(of parameter: String, _ values: SentenceSettings.Values) -> String? {
    switch parameter {
    case "1102":
      return codes.firstIndex(of: values.speed).map { "0x" + String($0, radix: 16) }
    case "1201":
      let list = zip(values.rates, bits).reduce(0) { $1.0 > 0 ? $0 | $1.1 : $0 }
      let digits = String(list, radix: 16)
      return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
    case "1228": return "0x00000000"
    case "1303":
      let milliseconds = Int(values.interval.microseconds / 1_000)
      return "\(milliseconds / 1_000).\(threeDigits(milliseconds % 1_000))000"
    case _: return nil
    }
  }

  /// The values with a changed parameter; nil if it does not exist or the value is invalid.
  private static func edited(
    _ values: SentenceSettings.Values, _ parameter: String, _ text: String
  ) -> SentenceSettings.Values? {
    var values = values
    switch parameter {
    case "1102":
      guard let code = Int(text, radix: 16), codes.indices.contains(code) else { return nil }
      values.speed = codes[code]
    case "1201":
      guard let list = Int(text, radix: 16) else { return nil }
      values.rates = bits.map { list & $0 == 0 ? 0 : 1 }
    case "1228": guard Int(text, radix: 16) != nil else { return nil }
    case "1303":
      guard let seconds = Double(text), (0.1...1).contains(seconds) else { return nil }
      values.interval = Interval(seconds: seconds)
    case _: return nil
    }
    return values
  }
}
