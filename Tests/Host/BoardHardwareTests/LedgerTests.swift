import LocationTypes
import Testing

@testable import BoardHardware

@Suite("Energy ledger")
struct LedgerTests {
  private func seconds(_ count: Int64) -> Instant { .boot + .seconds(count) }

  @Test("the ledger counts time and energy of each state from its start")
  func sums() {
    var ledger = EnergyLedger(from: seconds(100))
    ledger.setReceiver(.acquiring, mW: 36, at: seconds(100))
    ledger.setBoard(.awake, mW: 600, at: seconds(100))
    ledger.setReceiver(.tracking, mW: 30, at: seconds(130))
    ledger.setBoard(.idle, mW: 300, at: seconds(101))
    ledger.countWakes(for: .bytes)
    ledger.countWakes(for: .alarm, times: 3)
    let closed = ledger.closed(at: seconds(160))
    #expect(closed.begin == seconds(100) && closed.end == seconds(160))
    #expect(
      closed.time(of: .acquiring) == .seconds(30) && closed.time(of: .tracking) == .seconds(30))
    #expect(
      closed.time(of: ReceiverPowerState.off) == .zero, "time before the start is not counted")
    #expect(closed.receiver_mJ == 30 * 36 + 30 * 30)
    #expect(closed.board_mJ == 600 + 59 * 300)
    for reason in (UInt8.min ... .max).compactMap(WakeReason.init(rawValue:)) {
      var each = ledger
      each.countWakes(for: reason, times: 7)
      #expect(each.hostWakes(for: reason) == ledger.hostWakes(for: reason) + 7)
    }
    #expect(closed.hostWakes == 4 && closed.hostWakes(for: .alarm) == 3)
  }

  @Test("an absent receiver consumes no energy in any state")
  func none() {
    for state in ReceiverPowerState.allCases { #expect(ReceiverPower.none.mW(in: state) == 0) }
  }
}
