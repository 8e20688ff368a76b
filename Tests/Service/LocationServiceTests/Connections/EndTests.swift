import Glibc
import LinuxHAL
import LocationTypes
import TestSupport
import Testing

@testable import LocationService

@Suite("The end of the service")
struct EndTests {
  @Test("a file that is no socket is not replaced by one")
  func file() throws {
    let folder = TestFolder()
    folder.write([1], to: "file")
    #expect(throws: SystemError.self) { _ = try Listener(path: folder.path + "/file") }
    #expect(folder.read("file") == [1])
  }

  @Test("a socket that is served is not taken, one that was left behind is")
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

  @Test("a signal's descriptor ends a wait that does not listen, as a client's does")
  func tokens() {
    #expect(LocationService.signalToken.rawValue >= EventWait.Token.firstFree.rawValue)
    #expect(LocationServer.listenerToken != LocationService.signalToken)
  }
}
