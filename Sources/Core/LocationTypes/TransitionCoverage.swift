#if REACHED
  /// Coverage of one state machine: how often each pair of state and event occurred.
  ///
  /// Exists only in the build of `make soak` (`Docs/Decisions/0073`). A state machine records each pair where it
  /// handles the event; the soak run fails while a reachable pair is missing.
  @safe public struct TransitionCoverage: Sendable {
    /// Name of the state machine.
    public let name: String
    let states: [String]
    let events: [String]
    private let isExcluded: [Bool]
    private nonisolated(unsafe) let counts: UnsafeMutablePointer<UInt64>

    /// Creates the coverage table of a state machine, with all counts at zero.
    ///
    /// - Parameters:
    ///   - states: State names in the order of their raw values, separated by spaces.
    ///   - events: Event names in the order of their indices, separated by spaces.
    ///   - excluded: Pairs that cannot occur, as states and events, with the reason. An excluded pair that occurs
    ///     stops the program.
    public init(
      _ name: String, states: String, events: String,
      excluded: [(states: String, events: String, reason: StaticString)] = []
    ) {
      func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
      self.name = name
      self.states = words(states)
      self.events = words(events)
      var isExcluded = [Bool](repeating: false, count: self.states.count * self.events.count)
      for (states, events, _) in excluded {
        for state in words(states) {
          for event in words(events) {
            guard let row = self.states.firstIndex(of: state),
              let column = self.events.firstIndex(of: event)
            else { preconditionFailure("\(name) has no pair (\(state), \(event))") }
            isExcluded[row * self.events.count + column] = true
          }
        }
      }
      self.isExcluded = isExcluded
      unsafe counts = .allocate(capacity: isExcluded.count)
      unsafe counts.initialize(repeating: 0, count: isExcluded.count)
    }

    /// Counts `event` in `state`. If several threads count concurrently, a count may be too low, but never 0.
    public func record(_ state: Int, _ event: Int) {
      precondition(
        state < states.count && event < events.count,
        "state or event index outside the coverage table")
      let index = state * events.count + event
      if isExcluded[index] {
        fatalError("\(name) (\(states[state]), \(events[event])) cannot happen, and did")
      }
      unsafe counts[index] &+= 1
    }

    /// Number of pairs that can occur.
    public var reachable: Int { isExcluded.count { !$0 } }
    /// Number of reachable pairs that occurred.
    public var reached: Int { reachable - missing.count }
    /// Names of the reachable pairs that did not occur.
    public var missing: [String] {
      isExcluded.indices.filter { unsafe !isExcluded[$0] && counts[$0] == 0 }.map(pair)
    }
    /// Pair that occurred least often, with its count; nil while a reachable pair has not occurred.
    public var rarest: (pair: String, count: UInt64)? {
      let reachable = isExcluded.indices.filter { !isExcluded[$0] }
      guard let index = reachable.min(by: { unsafe counts[$0] < counts[$1] }) else { return nil }
      return unsafe counts[index] == 0 ? nil : (pair(index), counts[index])
    }

    private func pair(_ index: Int) -> String {
      "\(name) (\(states[index / events.count]), \(events[index % events.count]))"
    }
  }
#endif
