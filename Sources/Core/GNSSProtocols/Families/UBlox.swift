// u-blox receivers. Their commands are in ReceiverDrivers/UBlox; sources: Docs/Reference/receivers.md.

enum UBlox {
  private static func common(_ name: StaticString, _ generation: StaticString) -> FamilyDescriptor {
    var descriptor = FamilyDescriptor(
      name: name, maker: "u-blox", generation: generation, commandProtocol: .ubx)
    descriptor.capabilities = .ubxOutput.union(.batching).union(.dutyCycle).union(.databaseTransfer)
    // NAV-SAT and NAV-DOP.
    descriptor.satelliteOutput = .switched(longestRate: .max)
    return descriptor
  }

  /// M10: configured by CFG-VALSET, sleeps by RXM-PMREQ.
  static var m10: FamilyDescriptor {
    var descriptor = common("ublox-m10", "M10")
    descriptor.otherDefaultBaudRate = 38_400
    descriptor.batchLimits = BatchLimits(basic: 600, extraPVT: 309)
    return descriptor
  }

  /// 8 and M8: one UBX-CFG message per subject.
  static var m8: FamilyDescriptor {
    var descriptor = common("ublox-m8", "M8")
    descriptor.capabilities = descriptor.capabilities.union(.separateMessages)
    descriptor.batchLimits = BatchLimits(basic: 300, extraPVT: 300)
    return descriptor
  }
}
