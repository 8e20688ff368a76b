import LocationTypes

/// A radio by which a board sends its fixes to a store: energy and duration of one exchange, from measurements of others.
///
/// The only table of radios: `torpor tune --uplink` computes with it, and Docs/Reference/uplink.md lists it. An exchange
/// begins with a sleeping modem that is registered, or an interface that is not associated, and ends when the radio
/// sleeps again. It has a message of a few hundred bytes and its answer.
public enum UplinkRadio: String, CaseIterable, Sendable {
  /// LTE-M with power saving mode.
  case lteM = "lte-m"
  /// NB-IoT with power saving mode and release assistance.
  case nbIoT = "nb-iot"
  /// Wi-Fi that is associated for each exchange.
  case wifi
  /// GPRS of a modem that registers for each exchange.
  case gprs = "2g"

  /// Name in a text.
  public var text: String { figures.text }
  /// Energy of the radio for one exchange, joules.
  public var exchange_J: Double { figures.exchange_J }
  /// Time from the beginning of an exchange to the answer: the board waits for it. The radio may be on for longer.
  public var hold: Interval { .seconds(figures.hold_s) }
  /// How the figures were found, in one sentence of Markdown.
  public var source: String { figures.source }

  private var figures: (text: String, exchange_J: Double, hold_s: Int64, source: String) {
    switch self {
    case .lteM:
      (
        text: "LTE-M", exchange_J: 0.55, hold_s: 4,
        source: "Measured, nRF9160-DK at 5 V: 0.152 mWh in 22 s, 18 s of them after the answer "
          + "([zephyr-coaps-client](https://github.com/boaks/zephyr-coaps-client/blob/main/docu/POWERCONSUMPTION.md))"
      )
    case .nbIoT:
      (
        text: "NB-IoT", exchange_J: 0.27, hold_s: 2,
        source: "Measured there as well: 0.076 mWh in 11 s, 9 s of them after the answer"
      )
    case .wifi:
      (
        text: "Wi-Fi", exchange_J: 1.1, hold_s: 2,
        source:
          "Measured, ESP32 at 5 V with its processor: 204 mC in 1.6 s for association and DHCP, 8 mC for an MQTT message "
          + "([upy-esp32-experiments](https://github.com/glenn20/upy-esp32-experiments/blob/main/ESPNowvsWifiEnergyUsage/README.md))"
      )
    case .gprs:
      (
        text: "2G (GPRS)", exchange_J: 12, hold_s: 30,
        source:
          "Computed, not measured: 30 s at 110 mA and 3.6 V, the hourly status report in a manufacturer's example "
          + "(Sony Ericsson, LZT 123 1836, page 46)"
      )
    }
  }
}
