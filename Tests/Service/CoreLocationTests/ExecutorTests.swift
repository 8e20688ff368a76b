import CCoreLocation
import Foundation
import Testing

@testable import CoreLocation

@Suite("Hooks of Swift's executor")
struct ExecutorTests {
  @Test("this toolchain has both hooks, and the constructor of the module has set them")
  func installed() {
    // The runner may have set TORPOR_SWIFT_EXECUTOR.
    let choice = ProcessInfo.processInfo.environment["TORPOR_SWIFT_EXECUTOR"]
    #expect(torpor_executor_state().rawValue == (choice == "default" ? 1 : 0))
  }

  @Test("asynchronous code runs on the threads of the module, with all priorities")
  func pool() async {
    let onPool = await withTaskGroup(of: Bool.self) { group in
      for priority in [TaskPriority.high, .medium, .low, .background, .userInitiated] {
        group.addTask(priority: priority) {
          await Task.yield()
          return torpor_is_pool_thread()
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(onPool == [true, true, true, true, true])
  }
}
