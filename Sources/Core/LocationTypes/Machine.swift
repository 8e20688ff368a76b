#if REACHED
  /// A machine of the core, and which of its pairs of state and event were reached.
  ///
  /// It is there only in the build of `make soak` (Docs/Decisions/0073). A machine marks each pair
  /// where it takes the event; the soak fails while one is missing.
  @safe public struct Machine: Sendable {
    /// Its name.
    public let name: String
    let states: [String]
    let events: [String]
    private let isExcluded: [Bool]
    private nonisolated(unsafe) let counts: UnsafeMutablePointer<UInt64>

    /// Names a machine.
    ///
    /// - Parameters:
    ///   - states: Their names in the order of their numbers, with spaces between.
    ///   - events: The same of the events.
    ///   - excluded: Pairs that cannot happen, as states and events, with the reason. One that
    ///     happens all the same is a trap.
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

    /// Marks that `event` came in `state`. Threads may mark at the same time: a count may then be
    /// too low, but never 0.
    public func reach(_ state: Int, _ event: Int) {
      precondition(state < states.count && event < events.count, "a table is too short")
      let index = state * events.count + event
      if isExcluded[index] {
        fatalError("\(name) (\(states[state]), \(events[event])) cannot happen, and did")
      }
      unsafe counts[index] &+= 1
    }

    /// How many pairs can be reached.
    public var reachable: Int { isExcluded.count { !$0 } }
    /// How many of those were.
    public var reached: Int { reachable - missing.count }
    /// The names of the others.
    public var missing: [String] {
      isExcluded.indices.filter { unsafe !isExcluded[$0] && counts[$0] == 0 }.map(pair)
    }
    /// The one that was reached least often, and how often; nil while one was not reached.
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
