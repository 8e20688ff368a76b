import TestSupport
import Testing

@testable import TorporBoard

/// A folder with files as in `/proc`.
private struct Kernel {
  let folder = TestFolder()

  /// Sets the time for which a thread was runnable without a processor.
  func delay(_ seconds: Double, thread: Int, of process: Int) {
    let task = "\(process)/task/\(thread)"
    folder.makeFolders(task)
    folder.write(Array("123456789 \(Int(seconds * 1e9)) 42\n".utf8), to: "\(task)/schedstat")
  }

  /// Removes a thread.
  func end(thread: Int, of process: Int) { folder.remove("\(process)/task/\(thread)") }
}

@Suite("Guest time of an emulated machine")
struct GuestTimeTests {
  private let kernel = Kernel()

  private func time(of processes: Int32..., at host: Double = 100) -> GuestTime {
    GuestTime(of: processes, at: host, folder: kernel.folder.path)
  }

  private func near(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 1e-6 }

  @Test("on an idle host, and without scheduler statistics, guest time is host time")
  func idle() {
    kernel.delay(5, thread: 70, of: 7)
    var time = time(of: 7)
    #expect(near(time.now(at: 100), 0))
    #expect(near(time.now(at: 101.5), 1.5))
    var unknown = self.time(of: 8)
    #expect(near(unknown.now(at: 103), 3))
  }

  @Test("a thread's wait for a processor is subtracted once")
  func withheld() {
    kernel.delay(5, thread: 70, of: 7)
    var time = time(of: 7)
    kernel.delay(5.75, thread: 70, of: 7)
    #expect(near(time.now(at: 101), 0.25))
    #expect(near(time.now(at: 102), 1.25))
  }

  @Test("the delays of all threads and processes count, also of later threads")
  func threads() {
    kernel.delay(1, thread: 70, of: 7)
    kernel.delay(2, thread: 90, of: 9)
    var time = time(of: 7, 9)
    kernel.delay(1.25, thread: 70, of: 7)
    kernel.delay(2.25, thread: 90, of: 9)
    kernel.delay(0.25, thread: 71, of: 7)
    #expect(near(time.now(at: 101), 0.25))
    kernel.end(thread: 71, of: 7)
    #expect(near(time.now(at: 102), 1.25))
    // A new thread with the same id.
    kernel.delay(0.125, thread: 71, of: 7)
    #expect(near(time.now(at: 103), 2.125))
  }

  @Test("a delay that ends late is subtracted from later time, never from reported time")
  func late() {
    kernel.delay(0, thread: 70, of: 7)
    var time = time(of: 7)
    #expect(near(time.now(at: 101), 1))
    kernel.delay(1.5, thread: 70, of: 7)
    #expect(near(time.now(at: 101.5), 1))
    #expect(near(time.now(at: 102.25), 1))
    #expect(near(time.now(at: 103), 1.5))
  }

  @Test("after a load guest time continues within seconds, for any number of waiting threads")
  func overlap() {
    for thread in 70..<80 { kernel.delay(0, thread: thread, of: 7) }
    var time = time(of: 7)
    for thread in 70..<80 { kernel.delay(60, thread: thread, of: 7) }
    #expect(near(time.now(at: 160), 0))
    #expect(near(time.now(at: 160 + GuestTime.maximumCarry + 1), 1))
  }

  @Test("a clock that goes back does not change guest time")
  func back() {
    kernel.delay(0, thread: 70, of: 7)
    var time = time(of: 7)
    #expect(near(time.now(at: 102), 2))
    #expect(near(time.now(at: 101), 2))
    #expect(near(time.now(at: 103), 3))
  }

  @Test("a replaced process counts from the time of the replacement")
  func follow() {
    kernel.delay(1, thread: 70, of: 7)
    kernel.delay(9, thread: 90, of: 9)
    var time = time(of: 7)
    kernel.delay(1.5, thread: 70, of: 7)
    time.replaceProcesses([9], at: 101)
    #expect(near(time.now(at: 101), 0.5))
    kernel.delay(50, thread: 70, of: 7)
    kernel.delay(9.25, thread: 90, of: 9)
    #expect(near(time.now(at: 102), 1.25))
    #expect(time.processes == [9])
  }
}
