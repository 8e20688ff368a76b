import Glibc
import LocationClient
import Synchronization

/// Runs a program's asynchronous code without needless wakes of the board.
///
/// The threads of Swift's default executor wake once a second after their first use ([decision
/// 150](../../Docs/Decisions/0150-run-client-code-on-the-calling-thread.md)). Here the thread that calls ``run(_:)``
/// does all the work, and sleeps without a timeout when it is idle:
///
///     import TorporLocation
///
///     QuietProgram.main {
///       for try await update in LocationUpdate.liveUpdates() { … }
///     }
public enum QuietProgram {
  /// Runs a whole program as ``run(_:)`` does, and ends the process: with 0 when `body` returns, with
  /// `ClientProgram.failureStatus` and the description of the error on standard error when it throws. Standard output
  /// is written line by line.
  public static func main(_ body: @escaping @Sendable () async throws -> Void) -> Never {
    ClientProgram.main { try run(body) }
  }

  /// Runs `body`, with all that it awaits, on the calling thread, and returns its result.
  ///
  /// `body` must not use the main actor, which would wait for this thread for ever. It must not use `Task.sleep` or a
  /// detached task, which start the threads of the default executor.
  ///
  /// - Throws: What `body` throws.
  public static func run<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) throws -> Result {
    let executor = CallingThreadExecutor()
    let outcome = Outcome<Result>()
    Task(executorPreference: executor) {
      do { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
      executor.end()
    }
    executor.work()
    return try outcome.take()
  }

  /// Result of the body, passed from the task to the waiting thread.
  private final class Outcome<Value: Sendable>: Sendable {
    private let value = Mutex<Swift.Result<Value, any Error>?>(nil)

    func set(_ result: Result<Value, any Error>) { value.withLock { $0 = result } }

    func take() throws -> Value {
      guard let result = value.withLock({ $0 }) else { preconditionFailure("the body has ended") }
      return try result.get()
    }
  }
}

/// Executor that runs tasks on the thread that calls ``work()``.
@safe private final class CallingThreadExecutor: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isOver = false
  }

  private let state = Mutex(State())
  nonisolated(unsafe) private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { unsafe sem_init(semaphore, 0, 0) }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Post within the lock: otherwise the job may run and free the semaphore before it is posted.
    state.withLock { state in
      state.jobs.append(job)
      unsafe sem_post(semaphore)
    }
  }

  func end() {
    state.withLock { state in
      state.isOver = true
      unsafe sem_post(semaphore)
    }
  }

  /// Runs jobs until the end.
  func work() {
    while true {
      let (jobs, isOver) = state.withLock { state in
        defer { state.jobs = [] }
        return (state.jobs, state.isOver)
      }
      for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
      if jobs.isEmpty {
        if isOver { return }
        unsafe sem_wait(semaphore)
      }
    }
  }
}
