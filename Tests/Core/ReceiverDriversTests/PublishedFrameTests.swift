import GNSSProtocols
import Testing

@testable import ReceiverDrivers

// Frames published by others, compared with Torpor's.

private func hex(_ text: String) -> [UInt8] {
  text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
}

private func frame(_ command: UBloxCommand, _ setup: ReceiverSetup = ReceiverSetup()) -> [UInt8] {
  bytes(of: command.frame(part: 0, for: setup))
}

private func valset(_ layers: UBXLayers, _ items: [(UInt32, UInt64)]) -> [UInt8] {
  var configuration = UBXConfiguration(layers: layers)
  for item in items { configuration.set(item.0, item.1) }
  var buffer = FrameBuffer()
  buffer.appendConfiguration(configuration)
  return bytes(of: buffer)
}

@Test("The poll of MON-VER equals the one in u-blox's protocol specification and in public clients")
func versionPoll() {
  #expect(frame(.probe) == hex("B5 62 0A 04 00 00 0E 34"))
}

@Test("PWR-6: the poll of the configuration names the keys that the driver writes, in RAM")
func configurationPoll() {
  #expect(
    frame(.pollConfiguration(.full))
      == hex(
        "B5 62 06 8B 1C 00 00 00 00 00 01 00 73 10 01 00 74 10 02 00 74 10 07 00 91 20 01 00 21 30 "
          + "01 00 D0 20 37 5B"))
}

@Test("Standby without a wake pin is the 16-byte request that meshtastic and others send to an M10")
func standbyByUART() {
  // meshtastic/firmware src/gps/ubx.h, _message_PMREQ_10: version 0, until woken, backup and force,
  // woken by uartrx; with its checksum as in public M10 drivers.
  #expect(
    frame(.standby)
      == hex("B5 62 02 41 10 00 00 00 00 00 00 00 00 00 06 00 00 00 08 00 00 00 61 6B"))
}

@Test("Standby with a wake pin names EXTINT0 (bit 5) as well")
func standbyByPin() {
  let encoded = frame(.standby, ReceiverSetup(hasWakePin: true))
  #expect(Array(encoded[6..<22]) == hex("00 00 00 00 00 00 00 00 06 00 00 00 28 00 00 00"))
}

@Test("115200 baud into RAM and backup memory is the frame documented by a public M10 driver")
func lineSpeedFrame() {
  #expect(
    frame(.lineSpeed(115_200))
      == hex("B5 62 06 8A 0C 00 00 03 00 00 01 00 52 40 00 C2 01 00 F5 BB"))
}

@Test("The keys for the line's speed and NAV-PVT give the frames that u-center shows")
func uCenterFrames() {
  // CFG-UART1-BAUDRATE and CFG-MSGOUT-UBX_NAV_PVT_UART1, layer by layer, as u-center prints them.
  #expect(
    valset(.ram, [(M10Key.uart1Baudrate, 115_200)])
      == hex("b5 62 06 8a 0c 00 00 01 00 00 01 00 52 40 00 c2 01 00 f3 a5"))
  #expect(
    valset(.batteryBacked, [(M10Key.uart1Baudrate, 115_200)])
      == hex("b5 62 06 8a 0c 00 00 02 00 00 01 00 52 40 00 c2 01 00 f4 b0"))
  #expect(
    valset(.ram, [(M10Key.navPVTOnUART1, 1)])
      == hex("b5 62 06 8a 09 00 00 01 00 00 07 00 91 20 01 53 48"))
  #expect(
    valset(.batteryBacked, [(M10Key.navPVTOnUART1, 1)])
      == hex("b5 62 06 8a 09 00 00 02 00 00 07 00 91 20 01 54 50"))
}

@Test("NMEA off on UART 1 is the frame that others computed by hand")
func nmeaOff() {
  #expect(
    valset(UBXLayers(rawValue: 7), [(M10Key.uart1OutProtNMEA, 0)])
      == hex("B5 62 06 8A 09 00 00 07 00 00 02 00 74 10 00 26 E7"))
}

@Test("The rate key is at the same offset as in a published 1 Hz configuration")
func rateKey() {
  // B5 62 06 8A 24 00 01 07 00 00 | 01 00 21 30 E8 03 | … | 07 00 91 20 01 | 34 16
  let encoded = frame(.configuration(nil))
  let published = hex("01 00 21 30 E8 03")
  #expect(encoded.suffix(8).dropLast(2) == published[...])
}

@Test("Retrieving requests MON-BATCH first: version 0, flag sendMonFirst, two reserved bytes")
func retrieveFrame() {
  // Payload as in the M8 protocol specification, 21 10; the checksum is Fletcher's over it.
  let encoded = frame(.retrieveBatch)
  #expect(Array(encoded.prefix(10)) == hex("B5 62 21 10 04 00 00 01 00 00"))
  #expect(encoded.suffix(2) == [0x36, 0x93][...])
}

@Test("The batching keys are those of ubxlib and of pyubx2's table")
func batchKeys() {
  let setup = ReceiverSetup(
    batch: BatchSetup(capacity: 300, pioWired: true, pioID: 6, pioActiveLow: true))
  let payload = Array(frame(.enableBatching(watermark: 250), setup).dropFirst(6).dropLast(2))
  let expected =
    "00 03 00 00 15 00 26 30 2C 01 16 00 26 30 FA 00 1A 00 26 10 01 1B 00 26 10 00 "
    + "14 00 26 10 01 19 00 26 20 06 18 00 26 10 01 13 00 26 10 01"
  #expect(payload == hex(expected))
  #expect(frame(.disableBatching).suffix(7).dropLast(2) == hex("13 00 26 10 00")[...])
  #expect(frame(.watermark(100)).suffix(8).dropLast(2) == hex("16 00 26 30 64 00")[...])
}

@Test("Without a wired PIO no pin is configured")
func noPIO() {
  let setup = ReceiverSetup(batch: BatchSetup(capacity: 600, extraPVT: false))
  let payload = Array(frame(.enableBatching(watermark: 600), setup).dropFirst(6).dropLast(2))
  let expected =
    "00 03 00 00 15 00 26 30 58 02 16 00 26 30 58 02 1A 00 26 10 00 1B 00 26 10 00 "
    + "14 00 26 10 00 13 00 26 10 01"
  #expect(payload == hex(expected))
}
