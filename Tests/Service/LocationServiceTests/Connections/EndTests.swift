import Glibc
import LinuxHAL
import LocationTypes
import TestSupport
import Testing

@testable import LocationService

@Suite("The end of the service")
struct EndTests {
  @Test("a regular file is not replaced by a socket")
  func file() throws {
    let folder = TestFolder()
    folder.write([1], to: "file")
    #expect(throws: SystemError.self) { _ = try Listener(path: folder.path + "/file") }
    #expect(folder.read("file") == [1])
  }

  @Test("a socket in use is refused, a stale one is replaced")
  func sockets() throws {
    let folder = TestFolder()
    let path = folder.path + "/socket"
    do {
      let first = try Listener(path: path)
      #expect(throws: SystemError.self) { _ = try Listener(path: path) }
      #expect(first.descriptor >= 0)
    }
    #expect(unsafe access(path, F_OK) != 0)
  }

  @Test("the signal descriptor ends a wait that buffers input, like a client's")
  func tokens() {
    #expect(LocationService.signalToken.rawValue >= EventWait.Token.firstFree.rawValue)
    #expect(ConnectionTable.listenerToken != LocationService.signalToken)
  }
}
