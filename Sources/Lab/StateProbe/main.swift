import Glibc
import LocationPolicy
import LocationTypes
import ServiceState
import TextFormats

// A process that writes durable state and may be killed at any time, for the tests of ServiceState.
//
//   StateProbe write FILE      acknowledges without end; prints each number once it is durable
//   StateProbe read FILE       prints the last number, the repairs and the last error
//   StateProbe hold FILE       opens the file, prints "open", and waits for 60 s
//   StateProbe day FILE        a tracker's day: 144 acknowledgements; prints the amount written
//   StateProbe limited FILE    like write, but files are limited to 64 KiB; also prints errors

/// Any time is suitable: it is only stored in the name of a file that was moved aside.
let time = UTCTime(microseconds: 1_750_000_000_000_000)

func bookmark(_ number: UInt64) -> ClientBookmark {
  ClientBookmark(acknowledged: FixName(generation: 1, sequence: number), isOpenEnded: true)
}

/// The number that all clients have acknowledged; one transaction acknowledges it for all.
func acknowledged(_ store: StateStore) -> UInt64 {
  let numbers = Set(store.rows.cursors.all.map { $0.bookmark.acknowledged?.sequence ?? 0 })
  precondition(numbers.count <= 1, "a transaction is atomic")
  return numbers.first ?? 0
}

func acknowledge(_ number: UInt64, _ store: StateStore) throws(StateError) {
  for index in 0..<4 {
    guard let client = store.addClient(uid: 1_000, name: "client-\(index)") else { return }
    _ = store.rows.cursors.put(CursorRecord(client: client.id, bookmark: bookmark(number)))
  }
  // A region whose name changes its length, so that the file grows and shrinks.
  let center = Coordinate(latitude_e9: 52_000_000_000, longitude_e9: 13_000_000_000)
  let key = RegionIdentifier(.region, UInt32(number % 64))
  let region = Region(key, center: center, radius: Double(number % 1_000) + 1)
  let text = String(repeating: "r", count: Int(number % 200) + 1)
  _ = store.rows.regions.put(RegionRecord(client: 1, name: text, region: region, state: .unknown))
  try store.flush(at: time)
}

func write(_ store: StateStore) throws(StateError) {
  var number = acknowledged(store)
  while true {
    number += 1
    try acknowledge(number, store)
    printLine("\(number)")
  }
}

func writeWithSizeLimit(_ store: StateStore) {
  for number in 1...2_000 as ClosedRange<UInt64> {
    do throws(StateError) {
      try acknowledge(number, store)
      printLine("\(number)")
    } catch {
      return printLine("error \(error)")
    }
  }
}

func simulateDay(_ store: StateStore) throws(StateError) {
  let client = store.addClient(uid: 1_000, name: "tracker")?.id ?? 1
  try store.flush(at: time)
  let before = writtenBytes()
  let statistics = store.statistics
  for batch in 1...144 as ClosedRange<UInt64> {
    _ = store.rows.cursors.put(CursorRecord(client: client, bookmark: bookmark(batch * 600)))
    try store.flush(at: time)
  }
  let bytes = writtenBytes() - before
  printLine(
    "transactions \(store.statistics.transactions - statistics.transactions), "
      + "pages \(store.statistics.pages - statistics.pages), bytes \(bytes)")
}

/// Number of bytes that this process has passed to `write`.
func writtenBytes() -> Int {
  let descriptor = unsafe open("/proc/self/io", O_RDONLY)
  defer { close(descriptor) }
  var block = [UInt8](repeating: 0, count: 4_096)
  let count = unsafe block.withUnsafeMutableBytes {
    unsafe read(descriptor, $0.baseAddress, $0.count)
  }
  let text = String(decoding: block.prefix(max(count, 0)), as: UTF8.self)
  for line in text.split(separator: "\n") where line.hasPrefix("wchar: ") {
    return Int(line.dropFirst(7)) ?? 0
  }
  return 0
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  printLine("usage: StateProbe write|read|hold|day|limited FILE")
  exit(64)
}
if arguments[1] == "limited" {
  _ = signal(SIGXFSZ, SIG_IGN)
  var limit = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
  _ = unsafe setrlimit(Int32(RLIMIT_FSIZE.rawValue), &limit)
}
do throws(StateError) {
  let store = try StateStore(path: arguments[2], at: time)
  switch arguments[1] {
  case "write": try write(store)
  case "limited": writeWithSizeLimit(store)
  case "day": try simulateDay(store)
  case "hold":
    try acknowledge(acknowledged(store) + 1, store)
    printLine("open")
    sleep(60)
  default:
    printLine("\(acknowledged(store))")
    for line in store.repairs.lines { printLine(line) }
    if let trouble = store.lastError { printLine("trouble: \(trouble)") }
  }
} catch {
  printLine("error \(error)")
  exit(1)
}
