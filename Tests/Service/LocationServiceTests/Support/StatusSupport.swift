import Glibc
import LinuxHAL
import LocationPolicy
import LocationWire

@testable import LocationService

/// The status that the service reports to a program.
func status(_ bench: ServiceBench, _ program: Program) throws -> WireStatus {
  guard case .status(let status)? = bench.call(.getStatus, program) else {
    throw SystemError("no status", code: ENODATA)
  }
  return status
}

/// A policy with only a default, so that the test's user has no special rights.
func policy(_ authorization: Authorization) -> AccessPolicy {
  AccessPolicy(defaultRights: AccessRights(authorization: authorization))
}
