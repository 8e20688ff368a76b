import Glibc

/// Writes a line to a file descriptor, standard output by default, without buffering. Errors are ignored.
public func printLine(_ line: String, to descriptor: Int32 = STDOUT_FILENO) {
  _ = TextFile.write(Array((line + "\n").utf8), to: descriptor)
}
