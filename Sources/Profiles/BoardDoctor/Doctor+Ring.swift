import BoardProfiles
import DeferralCache
import Glibc
import LinuxHAL

// Checks of the ring: whether the service could open its file, tested on a copy in memory.

extension Doctor {
  mutating func examineRing() {
    let path = options.state + "/ring"
    guard files.entryExists(path) else {
      return skip("ring", "there is no ring; torpord creates '\(path)' when it starts")
    }
    guard files.isRegularFile(path) else {
      return fail(
        "ring", "'\(path)' is not a regular file",
        suggestion: "move it away; torpord creates a new one when it starts")
    }
    let descriptor = unsafe Glibc.open(files.fullPath(path), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      return skip("ring", "'\(path)' exists; only the service and root may read it")
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0,
      let capacity = FixRing.capacity(ofSize: Int(status.st_size))
    else {
      return fail(
        "ring", "'\(path)' has \(status.st_size) bytes, which is not the size of a ring",
        suggestion: Doctor.lossSuggestion)
    }
    if let expected = options.profile?.cache.capacity, expected != capacity {
      return fail(
        "ring", "'\(path)' has a capacity of \(capacity) fixes, but the profile says \(expected)",
        suggestion: "capacity_fixes = \(capacity) in [cache], or move the file away to "
          + "start a new ring"
      )
    }
    examine(descriptor, path, capacity)
  }

  private static let lossSuggestion =
    "restore a copy of it; otherwise torpord moves it aside at its start and creates a new one, and the "
    + "undelivered fixes in it are lost"

  /// Opens a copy of a ring in the same way as the service opens the file.
  private mutating func examine(_ descriptor: Int32, _ path: String, _ capacity: Int) {
    let size = FixRing.storageSize(capacity: capacity)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { unsafe copy.deallocate() }
    var count = 0
    while count < size {
      let more = unsafe pread(
        descriptor, copy.baseAddress.map { unsafe $0 + count }, size - count, count)
      if more < 0, errno == EINTR { continue }
      guard more > 0 else {
        let reason =
          more < 0
          ? SystemError.reason(errno)
          : "the file became shorter while it was read"
        return fail(
          "ring", "'\(path)' cannot be read: \(reason)",
          suggestion: "check `dmesg`; the disk or card may be failing")
      }
      count += more
    }
    do throws(RingError) {
      let ring = try unsafe FixRing(recovering: copy, capacity: capacity)
      pass("ring", Doctor.text(ring.recovery, fixes: Int(ring.head - ring.tail), of: capacity))
    } catch {
      switch error {
      case .unsupportedFormat(let found, let known):
        fail(
          "ring", "'\(path)' has format \(found), but this version supports format \(known)",
          suggestion: "run the version that wrote it, or move the file away to start a new ring")
      case .capacityMismatch(let found, _):
        fail(
          "ring", "'\(path)' has a header for \(found) fixes, but the size for \(capacity)",
          suggestion: Doctor.lossSuggestion)
      case .notARing:
        fail("ring", "'\(path)' contains no readable ring", suggestion: Doctor.lossSuggestion)
      case .exhausted:
        fail(
          "ring", "'\(path)' has used all generation or sequence numbers",
          suggestion: "move the file away to start a new ring")
      case .capacityOutOfRange, .storageTooSmall, .storageMisaligned:
        preconditionFailure("the size was checked and the memory allocated above: \(error)")
      }
    }
  }

  private static func text(_ recovery: RingRecovery, fixes: Int, of capacity: Int) -> String {
    if recovery.isNew { return "capacity of \(capacity) fixes, none written" }
    var text = "\(fixes) of \(capacity) slots in use"
    if recovery.missing > 0 { text += "; \(recovery.missing) of these fixes are lost" }
    // After its first start a ring has only one header.
    if recovery.lostHeaders > 1 {
      text += "; both headers are damaged; torpord rewrites them when it starts"
    }
    return text
  }
}
