import Glibc
import LinuxHAL
import LocationTypes
import Testing

@testable import LocationService

@Suite("The end of the service")
struct EndTests {
  @Test("a file that is no socket is not replaced by one")
  func file() throws {
    var name = Array("/tmp/torpor-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&name)
    close(descriptor)
    let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #expect(throws: SystemError.self) { _ = try Listener(path: path) }
    #expect(unsafe access(path, F_OK) == 0)
    _ = unsafe unlink(path)
  }

  @Test("a socket that is served is not taken, one that was left behind is")
  func sockets() throws {
    let path = "/tmp/torpor-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
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
