import LocationTypes

// Frames of UBX at the end of the buffer. Each takes its payload and 8 bytes; each traps when the
// buffer has no room for it.

extension FrameBuffer {
  /// Adds a frame with any payload of at most 1,016 bytes.
  public mutating func appendUBX(_ identity: UBXIdentity, payload: Span<UInt8>) {
    let start = beginUBX(identity)
    append(payload)
    endUBX(start)
  }

  /// Adds a frame without payload: a poll.
  public mutating func appendPoll(_ identity: UBXIdentity) {
    endUBX(beginUBX(identity))
  }

  // MARK: What receivers send

  /// Adds a NAV-PVT of 100 bytes; what is nil is written as zero.
  public mutating func appendNavPVT(_ s: UBXSolution) {
    let start = beginUBX(.navPVT)
    let payload = appendZeroes(UBXSolutionLayout.navPVT.length)
    put(s, .navPVT, at: payload)
    self[payload + UBXSolutionLayout.navPVT.flags] |= (s.carrierSolution & 3) << 6
    endUBX(start)
  }

  /// Adds a LOG-BATCH of 108 bytes; what is nil is written as zero, the carrier solution not at all.
  public mutating func appendBatchEntry(_ entry: UBXBatchEntry) {
    let start = beginUBX(.logBATCH)
    let payload = appendZeroes(UBXSolutionLayout.logBATCH.length)
    self[payload + 1] = entry.hasExtraPVT ? 1 : 0
    put(entry.messageCount, at: payload + 2)
    put(entry.solution, .logBATCH, at: payload)
    endUBX(start)
  }

  /// Adds a MON-BATCH of 20 bytes.
  public mutating func appendBatchStatus(_ status: UBXBatchStatus) {
    let start = beginUBX(.monBATCH)
    append(littleEndian: UInt32(0))
    append(littleEndian: status.fillLevel)
    append(littleEndian: status.dropsAll)
    append(littleEndian: status.dropsSinceLast)
    append(littleEndian: status.nextMessageCount)
    endUBX(start)
  }

  /// Adds an ACK-ACK, or an ACK-NAK when not `isAccepted`, of 10 bytes.
  public mutating func appendAcknowledgement(of identity: UBXIdentity, isAccepted: Bool = true) {
    let start = beginUBX(isAccepted ? .ackACK : .ackNAK)
    append(identity.messageClass)
    append(identity.messageID)
    endUBX(start)
  }

  /// Adds a MON-VER of at most 108 bytes, with the extensions that `version` has.
  public mutating func appendVersion(_ version: UBXVersion) {
    let start = beginUBX(.monVER)
    for i in 0..<30 { append(version.software[i]) }
    for i in 0..<10 { append(version.hardware[i]) }
    if let number = version.protocolVersion_e2 {
      let end = count + 30
      append(ascii: "PROTVER=")
      appendDecimal(Int64(number), decimals: 2)
      while count < end { append(0) }
    }
    if version.module[0] != 0 {
      append(ascii: "MOD=")
      for i in 0..<26 { append(i < 16 ? version.module[i] : 0) }
    }
    endUBX(start)
  }

  // MARK: What hosts send

  /// Adds a CFG-VALSET of version 0.
  public mutating func appendConfiguration(_ configuration: UBXConfiguration) {
    let start = beginUBX(.cfgVALSET)
    append(0)
    append(configuration.layers.rawValue)
    append(littleEndian: UInt16(0))
    for i in 0..<configuration.count {
      let item = configuration[i]
      append(littleEndian: item.key)
      var rest = item.value
      for _ in 0..<(UBXConfigurationItem.valueSize(of: item.key) ?? 0) {
        append(UInt8(truncatingIfNeeded: rest))
        rest >>= 8
      }
    }
    endUBX(start)
  }

  /// Adds an RXM-PMREQ: 24 bytes in all, 16 in its short form, which has no wakeup sources.
  public mutating func appendPowerRequest(_ request: UBXPowerRequest) {
    let start = beginUBX(.rxmPMREQ)
    if !request.isShortForm { append(littleEndian: UInt32(0)) }
    append(littleEndian: request.duration_ms)
    append(littleEndian: UInt32((request.isBackup ? 2 : 0) | (request.isForced ? 4 : 0)))
    if !request.isShortForm { append(littleEndian: request.wakeupSources) }
    endUBX(start)
  }

  /// Adds a LOG-RETRIEVEBATCH of 12 bytes.
  public mutating func appendRetrieveBatch(sendsStatusFirst: Bool) {
    let start = beginUBX(.logRETRIEVEBATCH)
    append(littleEndian: UInt32(sendsStatusFirst ? 0x100 : 0))
    endUBX(start)
  }

  // MARK: Parts

  mutating func beginUBX(_ identity: UBXIdentity) -> Int {
    let start = count
    append(0xB5)
    append(0x62)
    append(identity.messageClass)
    append(identity.messageID)
    append(littleEndian: UInt16(0))
    return start
  }

  mutating func endUBX(_ start: Int) {
    let length = count - start - 6
    self[start + 4] = UInt8(truncatingIfNeeded: length)
    self[start + 5] = UInt8(truncatingIfNeeded: length >> 8)
    let checksum = UBXChecksum(of: span.extracting(start + 2..<count))
    append(checksum.a)
    append(checksum.b)
  }

  /// Adds the characters of `text`.
  mutating func append(ascii text: StaticString) {
    for i in 0..<text.utf8CodeUnitCount { unsafe append(text.utf8Start[i]) }
  }

  /// Adds `value` / 10^`decimals` in digits, with at least `integers` before the point.
  mutating func appendDecimal(_ value: Int64, decimals: Int, integers: Int = 1) {
    if value < 0 { append(UInt8(ascii: "-")) }
    let magnitude = value.magnitude
    var divisor: UInt64 = 1
    var places = 1
    while places < decimals + integers || magnitude / divisor >= 10 {
      divisor *= 10
      places += 1
    }
    while places > 0 {
      if places == decimals { append(UInt8(ascii: ".")) }
      append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
      divisor /= 10
      places -= 1
    }
  }
}
