import GNSSProtocols
import LocationTypes

/// Output and power settings in effect, derived from the configuration.
struct ActiveConfiguration: Equatable, Sendable {
  var interval: Interval
  var speed: UInt32
  /// Output rates: one NAV-PVT or sentence every n epochs, 0 for none.
  var navPVT = 0
  var navSAT = 0
  var navDOP = 0
  var rmc = 0
  var gga = 0
  var gll = 0
  var gsa = 0
  var gsv = 0
  var gst = 0
  var vtg = 0
  var zda = 0
  var savesPower = false
  /// Number of entries at which the batch pin is asserted; 0 for never.
  var batchWatermark = 0
  var acceptsUBX = false

  /// Whether epochs produce any output.
  var sendsEpochs: Bool { navPVT + navSAT + navDOP > 0 || sendsNMEA }
  /// Whether epochs produce NMEA output.
  var sendsNMEA: Bool { rmc + gga + gll + gsa + gsv + gst + vtg + zda > 0 }

  /// Creates settings without output.
  init(interval: Interval, speed: UInt32) {
    self.interval = interval
    self.speed = speed
  }

  /// Derives the settings from a configuration.
  init(_ figures: SimulatedReceiverParameters, _ values: ReceiverConfiguration) {
    switch figures.family.descriptor.commandProtocol {
    case .none:
      interval = figures.interval
      speed = figures.defaultSpeed
      switch figures.output {
      case .ubx: navPVT = 1
      case .nmea: (rmc, gga, gsa, gsv, gst, vtg, zda) = (1, 1, 1, 1, 1, 1, 1)
      }
    case .sentences:
      let settings = values.sentenceSettings.current
      interval = settings.interval
      speed = settings.speed
      (gga, gll, gsa, gsv, rmc, vtg) = (
        settings.rates[0], settings.rates[1], settings.rates[2], settings.rates[3],
        settings.rates[4], settings.rates[5]
      )
    case .ubx:
      let period = Int64(values.value(ConfigurationKey.measurementPeriod))
      let ratio = Int64(values.value(ConfigurationKey.navigationRatio))
      interval = .milliseconds(max(period * ratio, 1))
      speed = UInt32(values.value(ConfigurationKey.lineSpeed))
      acceptsUBX = values.isOn(ConfigurationKey.acceptsUBX)
      savesPower = values.isOn(ConfigurationKey.powerMode)
      if values.isOn(ConfigurationKey.sendsUBX) {
        navPVT = Int(values.value(ConfigurationKey.navPVT))
        navSAT = Int(values.value(ConfigurationKey.navSAT))
        navDOP = Int(values.value(ConfigurationKey.navDOP))
      }
      if values.isOn(ConfigurationKey.sendsNMEA) {
        rmc = Int(values.value(ConfigurationKey.rmc))
        gga = Int(values.value(ConfigurationKey.gga))
        gll = Int(values.value(ConfigurationKey.gll))
        gsa = Int(values.value(ConfigurationKey.gsa))
        gsv = Int(values.value(ConfigurationKey.gsv))
        gst = Int(values.value(ConfigurationKey.gst))
        vtg = Int(values.value(ConfigurationKey.vtg))
        zda = Int(values.value(ConfigurationKey.zda))
      }
      if values.isOn(ConfigurationKey.batchPinEnable) {
        batchWatermark = Int(values.value(ConfigurationKey.batchWatermark))
      }
    }
  }
}
