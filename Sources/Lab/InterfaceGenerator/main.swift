import Glibc

// Writes the calls, replies and errors in Swift from the interface descriptions of the socket. `make methods` runs it
// in the root of the package.

func read(_ path: String) -> String {
  guard let file = unsafe fopen(path, "r") else { fail("cannot read \(path)") }
  defer { unsafe _ = fclose(file) }
  var bytes: [UInt8] = []
  while case let byte = unsafe getc(file), byte != EOF { bytes.append(UInt8(byte)) }
  return String(decoding: bytes, as: UTF8.self)
}

func fail(_ reason: String) -> Never {
  print("InterfaceGenerator: \(reason)")
  exit(1)
}

do {
  for (path, text) in generatedFiles(try Methods(interfacePaths.map(read))) {
    guard let file = unsafe fopen(path, "w"), unsafe fputs(text, file) >= 0,
      unsafe fclose(file) == 0
    else { fail("cannot write \(path)") }
  }
} catch {
  fail(error.reason)
}
