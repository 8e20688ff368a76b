import GNSSProtocols
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Virtual receiver for another board")
struct VirtualReceiverTests {
  /// Bytes received from `begin` until `end`, polled every 50 ms.
  private func receive(
    _ receiver: inout VirtualReceiver, from begin: Double, until end: Double, speed: UInt32? = nil
  ) -> [UInt8] {
    var all: [UInt8] = []
    for step in Int(begin * 20)..<Int(end * 20) {
      all += receiver.read(at: seconds(Double(step) / 20), speed: speed ?? receiver.speed)
    }
    return all
  }

  private func configuration(_ items: [(UInt32, UInt64)]) -> [UInt8] {
    var configuration = UBXConfiguration(layers: .ram)
    for (key, value) in items { configuration.set(key, value) }
    var frame = FrameBuffer()
    frame.appendConfiguration(configuration)
    return (0..<frame.count).map { frame.span[$0] }
  }

  @Test("the receiver sends sentences from the start; at another speed they are corrupted")
  func speeds() {
    var receiver = VirtualReceiver(m10(), track: straight())
    #expect(
      String(decoding: receive(&receiver, from: 0, until: 3), as: UTF8.self).contains("$GNRMC"))
    let corrupted = receive(&receiver, from: 3, until: 5, speed: 9_600)
    #expect(!corrupted.isEmpty && corrupted.allSatisfy { $0 >= 0x80 })
  }

  @Test("the receiver accepts commands at its speed, and sends at the speed that they set")
  func commands() {
    var receiver = VirtualReceiver(m10(), track: straight())
    _ = receive(&receiver, from: 0, until: 1)
    let faster = configuration([(ConfigurationKey.lineSpeed, 115_200)])
    receiver.write(faster, at: seconds(1), speed: 9_600)
    _ = receive(&receiver, from: 1, until: 2)
    #expect(receiver.speed == 38_400, "bytes at another speed are not accepted")
    receiver.write(faster, at: seconds(2), speed: 38_400)
    _ = receive(&receiver, from: 2, until: 3)
    #expect(receiver.speed == 115_200)
    #expect(!receive(&receiver, from: 3, until: 5).isEmpty)
  }

  @Test("without supply the receiver neither sends nor receives; an edge ends only standby")
  func pins() {
    var receiver = VirtualReceiver(m10 { $0.receiver.hasSupplySwitch = true }, track: straight())
    #expect(receive(&receiver, from: 0, until: 3).isEmpty && receiver.state == .backup)
    receiver.wake(at: seconds(3))
    receiver.write([0xFF], at: seconds(3), speed: 38_400)
    #expect(receiver.state == .backup)
    receiver.setSupply(true, at: seconds(4))
    #expect(!receive(&receiver, from: 4, until: 7).isEmpty && receiver.state == .acquiring)
    #expect(!receive(&receiver, from: 7, until: 20).isEmpty && receiver.state == .tracking)
    var frame = FrameBuffer()
    frame.appendPowerRequest(UBXPowerRequest(wakeupSources: UBXPowerRequest.wakesByEXTINT0))
    receiver.write((0..<frame.count).map { frame.span[$0] }, at: seconds(20), speed: 38_400)
    _ = receive(&receiver, from: 20, until: 22)
    #expect(receiver.state == .standby && receiver.nextEventTime == .distantFuture)
    #expect(receive(&receiver, from: 22, until: 40).isEmpty)
    receiver.wake(at: seconds(40))
    #expect(!receive(&receiver, from: 40, until: 44).isEmpty && receiver.state == .tracking)
  }
}
