import GNSSProtocols
import Testing

@testable import ReceiverDrivers

// Commands for M8, MediaTek, Airoha and CASIC receivers, compared with published ones.

private func hex(_ text: String) -> [UInt8] {
  text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
}

private func m8(
  _ command: UBloxCommand, part: UInt8 = 0, speed: UInt32 = 9_600, output: ReceiverOutput = .ubx,
  batch: BatchSetup? = nil
) -> [UInt8] {
  let setup = ReceiverSetup(family: .ubloxM8, lineSpeed: speed, output: output, batch: batch)
  return bytes(of: command.frame(part: part, for: setup))
}

private func text(
  _ command: SentenceCommand, _ family: ReceiverFamily, part: UInt8 = 0, interval: UInt16 = 1_000
) -> String {
  let setup = ReceiverSetup(family: family, interval_ms: interval, output: .nmea)
  return String(decoding: bytes(of: command.frame(part: part, for: setup)), as: UTF8.self)
}

@Suite("u-blox M8, published frames") struct PublishedM8Tests {
  @Test("CFG-PRT: UBX and NMEA out at 115200 baud; UBX alone at 9600")
  func port() {
    // STM32 and Raspberry Pi drivers for NEO-M8N, as u-center prints it: 115200, in 7, out 3.
    #expect(
      m8(.lineSpeed(115_200), output: .nmea)
        == hex(
          "B5 62 06 00 14 00 01 00 00 00 D0 08 00 00 00 C2 01 00 07 00 03 00 00 00 00 00 C0 7E"))
    // High-altitude balloon trackers, "setNMEA_off": 9600, in 7, out 1.
    #expect(
      m8(.configuration(nil))
        == hex(
          "B5 62 06 00 14 00 01 00 00 00 D0 08 00 00 80 25 00 00 07 00 01 00 00 00 00 00 A0 A9"))
  }

  @Test("CFG-MSG: NAV-PVT with each epoch")
  func solution() {
    // Published with the DDC port in place of UART 1: B5 62 06 01 08 00 01 07 00 01 00 00 00 00 18 E1.
    // The fourth byte of the payload is UART 1's, as in that frame's own description.
    #expect(
      m8(.configuration(nil), part: 1)
        == hex("B5 62 06 01 08 00 01 07 00 01 00 00 00 00 18 E1"))
  }

  @Test("CFG-RATE: 1 Hz in GPS time")
  func rate() {
    // u-center's default, in many drivers.
    #expect(
      m8(.configuration(nil), part: 2) == hex("B5 62 06 08 06 00 E8 03 01 00 01 00 01 39"))
  }

  @Test("CFG-CFG: everything into the backup memory")
  func save() {
    // A Zephyr driver for the M8 (ublox_m8, Scanimetrics), from u-center's message view.
    #expect(
      m8(.configuration(nil), part: 3)
        == hex("B5 62 06 09 0D 00 00 00 00 00 FF FF 00 00 00 00 00 00 01 1B A9"))
  }

  @Test("CFG-RXM: power save as CFG-PM2 configures it, and continuous mode")
  func receiverPower() {
    // The same driver, and notes on the M7 with both: B5 62 06 11 02 00 08 01 22 92, 08 00 21 91.
    #expect(m8(.powerMode(.cyclic), part: 1) == hex("B5 62 06 11 02 00 08 01 22 92"))
    #expect(m8(.powerMode(.full)) == hex("B5 62 06 11 02 00 08 00 21 91"))
  }

  @Test(
    "CFG-PM2: version 2, cyclic tracking once a second, as published except for reserved fields")
  func powerManagement() {
    // "power save with 1Hz" as u-center shows it for an M8: flags 00 00 43 01, period E8 03, search
    // period 10 27. Of its flags bit 16 (search on) and 17 (cyclic) have names; bit 12 keeps the
    // ephemeris, as in meshtastic's src/gps/ubx.h, _message_CFG_PM2: 00 11 03 00.
    let published = hex(
      "B5 62 06 3B 30 00 02 06 00 00 00 00 43 01 E8 03 00 00 10 27 00 00 00 00 00 00 00 00 2C 01")
    let encoded = m8(.powerMode(.cyclic))
    #expect(encoded.count == 56 && encoded.prefix(7) == published.prefix(7))
    #expect(encoded[10..<14] == hex("00 10 03 00")[...])
    #expect(encoded[14..<28] == published[14..<28])
    #expect(published[12] & 3 == 3)
  }

  @Test("RXM-PMREQ: 8 bytes, until woken, backup")
  func standby() {
    // Notes on software standby of u-blox 8; meshtastic's _message_PMREQ has the same payload.
    #expect(m8(.standby) == hex("B5 62 02 41 08 00 00 00 00 00 02 00 00 00 4D 3B"))
  }

  @Test(
    "CFG-BATCH: enabled, extra PVT, pin 6; from the published layout (no published frame exists)")
  func batch() {
    let encoded = m8(
      .enableBatching(watermark: 250),
      batch: BatchSetup(capacity: 300, pioWired: true, pioID: 6))
    // u-blox 8 / M8 receiver description: version, flags, bufSize, notifThrs, pioId, reserved.
    #expect(Array(encoded.dropLast(2)) == hex("B5 62 06 93 08 00 00 25 2C 01 FA 00 06 00"))
    #expect(
      Array(m8(.disableBatching).dropLast(2)) == hex("B5 62 06 93 08 00 00 00 00 00 00 00 00 00"))
  }

  @Test("each command has a distinct answer for each of its messages")
  func answers() {
    let setup = ReceiverSetup(family: .ubloxM8, batch: BatchSetup(capacity: 300))
    let all = UBloxCommand.configuration(.cyclic)
    #expect(all.partCount(for: setup) == 6)
    let named = (0..<6).map { all.answer(part: $0, for: setup) }
    #expect(named == [.cfgPRT, .cfgMSG, .cfgRATE, .cfgPM2, .cfgRXM, .cfgCFG])
    #expect(
      (0..<6).map { all.setsPowerMode(part: $0, for: setup) } == [
        false, false, false, true, true, false,
      ])
    #expect(UBloxCommand.configuration(.full).partCount(for: setup) == 5)
    #expect(UBloxCommand.watermark(1).answer(part: 0, for: setup) == .cfgBATCH)
    for command in [
      UBloxCommand.none, .probe, .pollConfiguration(nil), .wakeBytes, .retrieveBatch, .standby,
    ] {
      #expect(command.answer(part: 0, for: setup) == nil && command.partCount(for: setup) == 1)
    }
  }
}

@Suite("MediaTek, Airoha, CASIC: published sentences") struct PublishedSentenceTests {
  @Test("MediaTek commands equal the published ones")
  func mtk() {
    // PMTK test packet: MTK NMEA packet manual; its answer $PMTK001,0,3*30.
    #expect(text(.probe, .mtk) == "$PMTK000*32\r\n")
    // Adafruit_GPS.h: PMTK_SET_NMEA_OUTPUT_RMCGGAGSA, PMTK_SET_NMEA_UPDATE_1HZ, _5HZ, PMTK_STANDBY,
    // PMTK_SET_BAUD_57600, _9600.
    #expect(
      text(.configuration, .mtk) == "$PMTK314,0,1,0,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0*29\r\n")
    #expect(text(.configuration, .mtk, part: 1) == "$PMTK220,1000*1F\r\n")
    #expect(text(.configuration, .mtk, part: 1, interval: 200) == "$PMTK220,200*2C\r\n")
    #expect(text(.standby, .mtk) == "$PMTK161,0*28\r\n")
    #expect(text(.lineSpeed(57_600), .mtk) == "$PMTK251,57600*2C\r\n")
    #expect(text(.lineSpeed(9_600), .mtk) == "$PMTK251,9600*17\r\n")
    // The sixth field is GSV: a further sentence changes the checksum's last bit.
    #expect(
      text(.satellites(every: 1), .mtk) == "$PMTK314,0,1,0,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0*28\r\n")
  }

  @Test("Airoha commands equal the published ones")
  func airoha() {
    // Quectel LC76G protocol specification V1.1; Zephyr drivers/gnss/gnss_quectel_lc76g.c sends the
    // same PAIR002 and PAIR062; a Quectel LC29 driver has PAIR864 with its answer.
    #expect(text(.probe, .airoha) == "$PAIR002*38\r\n")
    #expect(text(.wakeUp, .airoha) == "$PAIR002*38\r\n")
    #expect(text(.standby, .airoha) == "$PAIR003*39\r\n")
    #expect(text(.restart, .airoha) == "$PAIR023*3B\r\n")
    #expect(text(.lineSpeed(115_200), .airoha) == "$PAIR864,0,0,115200*1B\r\n")
    #expect(text(.lineSpeed(38_400), .airoha) == "$PAIR864,0,0,38400*23\r\n")
    let sentences = (0..<6).map { text(.configuration, .airoha, part: $0) }
    #expect(
      sentences == [
        "$PAIR062,0,1*3F\r\n", "$PAIR062,1,0*3F\r\n", "$PAIR062,2,1*3D\r\n",
        "$PAIR062,3,0*3D\r\n", "$PAIR062,4,1*3B\r\n", "$PAIR062,5,0*3B\r\n",
      ])
    #expect(text(.configuration, .airoha, part: 6) == "$PAIR050,1000*12\r\n")
    #expect(text(.satellites(every: 1), .airoha) == "$PAIR062,3,1*3C\r\n")
  }

  @Test("CASIC: each command is followed by a firmware query, which alone is answered")
  func casic() {
    // $PCAS06,0*1B and its answer $GPTXT,01,01,02,SW=…: drivers for ATGM336H and L76K (LilyGo).
    #expect(text(.probe, .casic) == "$PCAS06,0*1B\r\n")
    // A MicroPython driver for the AT6558 has $PCAS03,1,0,0,0,1,0,0,0,0,0,,,0,0*02; one more field is
    // enabled here, GSA, which changes the checksum's last bit.
    #expect(
      text(.configuration, .casic)
        == "$PCAS03,1,0,1,0,1,0,0,0,0,0,,,0,0*03\r\n$PCAS06,0*1B\r\n")
    #expect(
      text(.satellites(every: 1), .casic)
        == "$PCAS03,1,0,1,1,1,0,0,0,0,0,,,0,0*02\r\n$PCAS06,0*1B\r\n")
    // $PCAS02,1000*2E, 200*1D, 100*1E; $PCAS01,5*19: ATGM336H drivers.
    #expect(
      text(.configuration, .casic, part: 1) == "$PCAS02,1000*2E\r\n$PCAS06,0*1B\r\n")
    #expect(
      text(.configuration, .casic, part: 1, interval: 200)
        == "$PCAS02,200*1D\r\n$PCAS06,0*1B\r\n")
    #expect(text(.lineSpeed(115_200), .casic) == "$PCAS01,5*19\r\n$PCAS06,0*1B\r\n")
    #expect(text(.lineSpeed(19_200), .casic) == "$PCAS01,2*1E\r\n$PCAS06,0*1B\r\n")
    // The other codes of the CASIC protocol specification.
    #expect(text(.lineSpeed(4_800), .casic) == "$PCAS01,0*1C\r\n$PCAS06,0*1B\r\n")
    #expect(text(.lineSpeed(9_600), .casic) == "$PCAS01,1*1D\r\n$PCAS06,0*1B\r\n")
    #expect(text(.lineSpeed(38_400), .casic) == "$PCAS01,3*1F\r\n$PCAS06,0*1B\r\n")
    #expect(text(.lineSpeed(57_600), .casic) == "$PCAS01,4*18\r\n$PCAS06,0*1B\r\n")
    // "StandbyMode" of an ATGM336H library.
    #expect(text(.standby, .casic) == "$PCAS12,65535*1E\r\n")
  }

  @Test("Teseo commands equal the published ones")
  func teseo() {
    // Zephyr-based driver for the LIV3FL: GETPAR and SAVEPAR, SRR with checksums; a LIV3F sketch: 1303,0.20*06, 0.10*05.
    #expect(
      (0..<3).map { text(.configuration, .teseo, part: $0) } == [
        "$PSTMGETPAR,1201*21\r\n", "$PSTMGETPAR,1228*2A\r\n", "$PSTMGETPAR,1303*22\r\n",
      ])
    #expect(text(.storage, .teseo, part: 2, interval: 200) == "$PSTMSETPAR,1303,0.20*06\r\n")
    #expect(text(.storage, .teseo, part: 2, interval: 100) == "$PSTMSETPAR,1303,0.10*05\r\n")
    #expect(text(.storage, .teseo, part: 3) == "$PSTMSAVEPAR*58\r\n")
    #expect(text(.lineSpeed(9_600), .teseo, part: 1) == "$PSTMSAVEPAR*58\r\n")
    #expect(text(.restart, .teseo) == "$PSTMSRR*49\r\n")
    // UM2791 section 10.2.1: hexadecimal without 0x; ST's X-CUBE-GNSS1 example sets 1201 and 1228 so.
    #expect(text(.storage, .teseo).hasPrefix("$PSTMSETPAR,1201,46*"))
    #expect(text(.storage, .teseo, part: 1).hasPrefix("$PSTMSETPAR,1228,0*"))
    // Drivers for the LIV3F: GSV is bit 0x80000, $PSTMNMEAREQUEST,80000,0.
    #expect(text(.satellites(every: 1), .teseo).hasPrefix("$PSTMNMEAREQUEST,80000,0*"))
    // Section 12.2.
    for (speed, code): (UInt32, String) in [
      (4_800, "4"), (9_600, "5"), (19_200, "7"), (38_400, "8"), (57_600, "9"), (115_200, "A"),
      (230_400, "B"), (460_800, "C"), (921_600, "D"),
    ] {
      #expect(text(.lineSpeed(speed), .teseo).hasPrefix("$PSTMSETPAR,1102,\(code)*"))
    }
    // ST's driver sends $PSTMGETSWVER,6; section 10.1.40: at most 65,535 s.
    #expect(text(.probe, .teseo).hasPrefix("$PSTMGETSWVER,6*"))
    #expect(text(.standby, .teseo).hasPrefix("$PSTMFORCESTANDBY,65535*"))
  }

  @Test(
    "wake-up bytes form no sentence, and are at least one more than the receiver loses",
    arguments: [ReceiverFamily.mtk, .casic, .teseo])
  func wakeBytes(_ family: ReceiverFamily) {
    let setup = ReceiverSetup(family: family, output: .nmea)
    #expect(
      bytes(of: SentenceCommand.wakeUp.frame(part: 0, for: setup))
        == Array(repeating: 0xFF, count: 8))
  }
}
