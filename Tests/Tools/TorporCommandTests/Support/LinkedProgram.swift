import Foundation
import TestSupport

/// Links a program of this package to another path, and copies it only to another file system.
///
/// While a copy is written, another test may start a process, which inherits the descriptor, and the kernel executes no
/// file that is open for writing (`ETXTBSY`).
func linkProgram(_ name: String, to path: String) throws {
  let program = builtProgram(name)
  do {
    try FileManager.default.linkItem(atPath: program, toPath: path)
  } catch {
    try FileManager.default.copyItem(atPath: program, toPath: path)
  }
}
