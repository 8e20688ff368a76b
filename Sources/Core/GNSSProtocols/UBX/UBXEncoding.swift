import LocationTypes

// Methods that append UBX frames: payload plus 8 bytes each. They trap if the buffer has too little
// free space.

extension FrameBuffer {
  /// Appends a frame with any payload of at most 1,016 bytes.
  public mutating func appendUBX(_ identity: UBXIdentity, payload: Span<UInt8>) {
    let start = beginUBX(identity)
    append(payload)
    endUBX(start)
  }

  /// Appends a frame without payload: a poll.
  public mutating func appendPoll(_ identity: UBXIdentity) {
    endUBX(beginUBX(identity))
  }

  // MARK: Messages of receivers

  /// Appends a NAV-PVT, 100 bytes; nil is written as zero.
  public mutating func appendNavPVT(_ s: UBXSolution) {
    let start = beginUBX(.navPVT)
    let payload = appendZeroes(UBXSolutionLayout.length)
    put(s, at: payload)
    self[payload + UBXSolutionLayout.flags] |= (s.carrierSolution & 3) << 6
    endUBX(start)
  }

  /// Appends a LOG-BATCH, 108 bytes; nil is written as zero, the carrier solution is omitted.
  public mutating func appendBatchEntry(_ entry: UBXBatchEntry) {
    let start = beginUBX(.logBATCH)
    let payload = appendZeroes(UBXSolutionLayout.batchLength)
    self[payload + 1] = entry.hasExtraPVT ? 1 : 0
    put(entry.messageCount, at: payload + 2)
    put(entry.solution, at: payload + UBXSolutionLayout.batchOffset)
    endUBX(start)
  }

  /// Appends a MON-BATCH, 20 bytes.
  public mutating func appendBatchStatus(_ status: UBXBatchStatus) {
    let start = beginUBX(.monBATCH)
    append(littleEndian: UInt32(0))
    append(littleEndian: status.fillLevel)
    append(littleEndian: status.dropsAll)
    append(littleEndian: status.dropsSinceLast)
    append(littleEndian: status.nextMessageCount)
    endUBX(start)
  }

  /// Appends an ACK-ACK, or an ACK-NAK if not `isAccepted`, 10 bytes.
  public mutating func appendAcknowledgement(of identity: UBXIdentity, isAccepted: Bool = true) {
    let start = beginUBX(isAccepted ? .ackACK : .ackNAK)
    append(identity.messageClass)
    append(identity.messageID)
    endUBX(start)
  }

  /// Appends a MON-VER, at most 108 bytes, with the extensions of `version`.
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

  // MARK: Messages of hosts

  /// Appends a CFG-VALSET of version 0.
  public mutating func appendConfiguration(_ configuration: UBXConfiguration) {
    let start = beginUBX(.cfgVALSET)
    append(0)
    append(configuration.layers.rawValue)
    append(littleEndian: UInt16(0))
    append(itemsOf: configuration)
    endUBX(start)
  }

  /// Appends each key with its value.
  mutating func append(itemsOf configuration: UBXConfiguration) {
    for i in 0..<configuration.count {
      let item = configuration[i]
      append(littleEndian: item.key)
      var remaining = item.value
      for _ in 0..<(UBXConfigurationItem.valueSize(of: item.key) ?? 0) {
        append(UInt8(truncatingIfNeeded: remaining))
        remaining >>= 8
      }
    }
  }

  /// Appends an RXM-PMREQ: 24 bytes, or 16 in its short form, which has no wake-up sources.
  public mutating func appendPowerRequest(_ request: UBXPowerRequest) {
    let start = beginUBX(.rxmPMREQ)
    if !request.isShortForm { append(littleEndian: UInt32(0)) }
    append(littleEndian: request.duration_ms)
    append(littleEndian: UInt32((request.isBackup ? 2 : 0) | (request.isForced ? 4 : 0)))
    if !request.isShortForm { append(littleEndian: request.wakeupSources) }
    endUBX(start)
  }

  /// Appends a LOG-RETRIEVEBATCH, 12 bytes.
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

  /// Appends the characters of `text`.
  mutating func append(ascii text: StaticString) {
    for i in 0..<text.utf8CodeUnitCount { unsafe append(text.utf8Start[i]) }
  }

  /// Appends `value` / 10^`decimals` in digits, with at least `integers` before the point.
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

// Parts of an epoch, in the layouts that `UBXDecoding` reads.

extension FrameBuffer {
  /// Appends the frame of a part of an epoch.
  public mutating func append(_ part: UBXNavigation) {
    switch part {
    case .ecefPosition(let m): append(m, as: .navPOSECEF)
    case .ecefVelocity(let m): append(m, as: .navVELECEF)
    case .position(let m): append(m)
    case .status(let m): append(m)
    case .dilutions(let m): append(m)
    case .ecefSolution(let m): append(m)
    case .velocity(let m): append(m)
    case .precisePosition(let m): append(m)
    case .gpsTime(let m): append(m)
    case .utc(let m): append(m)
    case .leapSeconds(let m): append(m)
    case .channels(let m): append(m, asChannels: true)
    case .satellites(let m): append(m, asChannels: false)
    case .endOfEpoch(let time):
      let start = beginUBX(.navEOE)
      append(littleEndian: time)
      endUBX(start)
    }
  }

  private mutating func append(_ m: UBXECEFVector, as identity: UBXIdentity) {
    let start = beginUBX(identity)
    append(littleEndian: m.timeOfWeek_ms)
    appendVector(m)
    endUBX(start)
  }

  private mutating func appendVector(_ m: UBXECEFVector) {
    append(littleEndian: m.x)
    append(littleEndian: m.y)
    append(littleEndian: m.z)
    append(littleEndian: m.accuracy)
  }

  private mutating func append(_ m: UBXPosition) {
    let start = beginUBX(.navPOSLLH)
    append(littleEndian: m.timeOfWeek_ms)
    append(littleEndian: m.longitude_e7)
    append(littleEndian: m.latitude_e7)
    append(littleEndian: m.height_mm)
    append(littleEndian: m.heightMSL_mm)
    append(littleEndian: m.horizontalAccuracy_mm)
    append(littleEndian: m.verticalAccuracy_mm)
    endUBX(start)
  }

  private mutating func append(_ m: UBXPrecisePosition) {
    let start = beginUBX(.navHPPOSLLH)
    append(littleEndian: UInt32(m.isValid ? 0 : 1 << 24))
    append(littleEndian: m.timeOfWeek_ms)
    append(littleEndian: Int32(truncatingIfNeeded: m.longitude_e9 / 100))
    append(littleEndian: Int32(truncatingIfNeeded: m.latitude_e9 / 100))
    append(littleEndian: Int32(truncatingIfNeeded: m.height_dmm / 10))
    append(littleEndian: Int32(truncatingIfNeeded: m.heightMSL_dmm / 10))
    append(littleEndian: Int8(m.longitude_e9 % 100))
    append(littleEndian: Int8(m.latitude_e9 % 100))
    append(littleEndian: Int8(m.height_dmm % 10))
    append(littleEndian: Int8(m.heightMSL_dmm % 10))
    append(littleEndian: m.horizontalAccuracy_dmm)
    append(littleEndian: m.verticalAccuracy_dmm)
    endUBX(start)
  }

  private mutating func append(_ m: UBXStatus) {
    let start = beginUBX(.navSTATUS)
    append(littleEndian: m.timeOfWeek_ms)
    append(m.fixType)
    append(m.flags)
    append(littleEndian: UInt16(0))
    append(littleEndian: m.timeToFix_ms)
    append(littleEndian: m.uptime_ms)
    endUBX(start)
  }

  private mutating func append(_ m: UBXDilutions) {
    let start = beginUBX(.navDOP)
    append(littleEndian: m.timeOfWeek_ms)
    append(littleEndian: m.geometric_e2)
    append(littleEndian: m.position_e2)
    append(littleEndian: m.time_e2)
    append(littleEndian: m.vertical_e2)
    append(littleEndian: m.horizontal_e2)
    append(littleEndian: m.northing_e2)
    append(littleEndian: m.easting_e2)
    endUBX(start)
  }

  private mutating func append(_ m: UBXECEFSolution) {
    let start = beginUBX(.navSOL)
    append(littleEndian: m.timeOfWeek_ms)
    append(littleEndian: m.fraction_ns)
    append(littleEndian: m.week)
    append(m.fixType)
    append(m.flags)
    appendVector(m.position)
    appendVector(m.velocity)
    append(littleEndian: m.positionDOP_e2)
    append(0)
    append(m.satellites)
    append(littleEndian: UInt32(0))
    endUBX(start)
  }

  private mutating func append(_ m: UBXVelocity) {
    let start = beginUBX(.navVELNED)
    append(littleEndian: m.timeOfWeek_ms)
    append(littleEndian: m.north_cmps)
    append(littleEndian: m.east_cmps)
    append(littleEndian: m.down_cmps)
    append(littleEndian: m.speed_cmps)
    append(littleEndian: m.groundSpeed_cmps)
    append(littleEndian: m.heading_e5)
    append(littleEndian: m.speedAccuracy_cmps)
    append(littleEndian: m.headingAccuracy_e5)
    endUBX(start)
  }

  private mutating func append(_ m: UBXGPSTime) {
    let start = beginUBX(.navTIMEGPS)
    append(littleEndian: m.timeOfWeek_ms)
    append(littleEndian: m.fraction_ns)
    append(littleEndian: m.week)
    append(littleEndian: m.leapSeconds)
    append(m.valid)
    append(littleEndian: m.accuracy_ns)
    endUBX(start)
  }

  private mutating func append(_ m: UBXTimeUTC) {
    let start = beginUBX(.navTIMEUTC)
    append(littleEndian: m.timeOfWeek_ms)
    append(littleEndian: m.accuracy_ns)
    let time = appendZeroes(12)
    if let utc = m.utc {
      put(Int32(utc.microsecondsOfDay % 1_000_000) * 1_000, at: time)
      put(UBXCivilTime(utc), at: time + 4)
      self[time + 11] = 7
    }
    endUBX(start)
  }

  private mutating func append(_ m: UBXLeapSeconds) {
    let start = beginUBX(.navTIMELS)
    append(littleEndian: m.timeOfWeek_ms)
    append(littleEndian: UInt32(0))
    append(m.source)
    append(littleEndian: m.current)
    append(2)
    append(littleEndian: m.change)
    append(littleEndian: m.untilEvent_s)
    append(littleEndian: m.eventWeek)
    append(littleEndian: m.eventDay)
    append(littleEndian: UInt16(0))
    append(0)
    append(m.valid)
    endUBX(start)
  }

  /// Appends satellites that match the summary: the first one used has the best signal, the remaining
  /// sum is divided among the other used ones.
  ///
  /// - Precondition: at most 84 satellites, the maximum of a frame.
  private mutating func append(_ m: UBXSatellites, asChannels: Bool) {
    precondition(m.inView <= 84, "a frame holds at most 84 satellites")
    let start = beginUBX(asChannels ? .navSVINFO : .navSAT)
    append(littleEndian: m.timeOfWeek_ms)
    append(asChannels ? m.inView : 1)
    append(asChannels ? 0 : m.inView)
    append(littleEndian: UInt16(0))
    var remaining = m.signalSum_dBHz
    for i in 0..<m.inView {
      var signal: UInt8 = 0
      if i < m.used {
        let remainingUsed = UInt16(m.used - i)
        signal = i == 0 ? m.best_dBHz : UInt8(min(remaining / remainingUsed, UInt16(m.best_dBHz)))
        remaining -= min(remaining, UInt16(signal))
      }
      let entry = appendZeroes(12)
      self[entry + 1] = i + 1
      self[entry + (asChannels ? 4 : 2)] = signal
      self[entry + (asChannels ? 2 : 8)] = i < m.used ? (asChannels ? 1 : 8) : 0
    }
    endUBX(start)
  }
}
