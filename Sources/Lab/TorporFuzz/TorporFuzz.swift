import DecoderProperties
import Glibc

// libFuzzer provides the main program and calls these two functions. Select the property with an option
// that libFuzzer ignores: `TorporFuzz --property=stream …`.

nonisolated(unsafe) private var property = DecoderProperty.stream

/// Reads the options of this program; `--seeds=FOLDER` writes the seeds into FOLDER and the dictionary to FOLDER.dict,
/// and exits.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
  var folder: String?
  var name: String?
  for i in 1..<max(1, unsafe Int(count.pointee)) {
    guard let pointer = unsafe arguments.pointee[i] else { break }
    let argument = unsafe String(cString: pointer)
    if argument.hasPrefix("--property=") { name = String(argument.dropFirst(11)) }
    if argument.hasPrefix("--seeds=") { folder = String(argument.dropFirst(8)) }
  }
  guard let found = name.flatMap(DecoderProperty.init(rawValue:)) else {
    fail("usage: TorporFuzz --property=NAME, where NAME is one of: \(names)")
  }
  unsafe property = found
  guard let folder else { return 0 }
  for (i, seed) in found.seeds.enumerated() { write(seed, to: "\(folder)/seed-\(i)") }
  write(Array(found.dictionary.utf8), to: "\(folder).dict")
  exit(0)
}

/// Checks one input; traps if the property does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  if let violation = unsafe property.check(input).violation { fatalError(violation) }
  return 0
}

private var names: String {
  DecoderProperty.allCases.map(\.rawValue).joined(separator: " ")
}

private func write(_ bytes: [UInt8], to path: String) {
  guard let file = unsafe fopen(path, "w") else { fail("cannot write \(path)") }
  let count = unsafe fwrite(bytes, 1, bytes.count, file)
  guard unsafe fclose(file) == 0, count == bytes.count else { fail("cannot write \(path)") }
}

private func fail(_ message: String) -> Never {
  print(message)
  exit(64)
}
