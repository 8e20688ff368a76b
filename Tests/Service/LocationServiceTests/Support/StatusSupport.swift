import Glibc
import LinuxHAL
import LocationPolicy
import LocationService
import LocationWire

/// What the service tells a program of itself.
func status(_ bench: ServiceBench, _ program: Program) throws -> WireStatus {
  guard case .status(let status)? = bench.ask(.getStatus, program) else {
    throw SystemError("no status", code: ENODATA)
  }
  return status
}

/// A policy in which this user is nobody in particular.
func policy(_ authorization: Authorization) -> AccessPolicy {
  AccessPolicy(defaultRights: AccessRights(authorization: authorization))
}
