import BoardProfiles
import DeferralCache
import Glibc
import LinuxHAL

// The ring of fixes: whether the service would open its file, found out on a copy of it.

extension Doctor {
  mutating func examineRing() {
    let path = options.state + "/ring"
    guard files.isNamed(path) else {
      return skip("ring", "there is none; torpord makes '\(path)' when it starts")
    }
    guard files.isPlainFile(path) else {
      return fail(
        "ring", "'\(path)' is no plain file",
        remedy: "move it away; torpord makes a new one when it starts")
    }
    let descriptor = unsafe Glibc.open(files.place(path), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      return skip("ring", "'\(path)' is there; only the service and root may look into it")
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0,
      let capacity = FixRing.capacity(ofSize: Int(status.st_size))
    else {
      return fail(
        "ring", "'\(path)' has \(status.st_size) bytes, which no ring has",
        remedy: Doctor.lossRemedy)
    }
    if let wanted = options.profile?.cache.capacity, wanted != capacity {
      return fail(
        "ring", "'\(path)' holds \(capacity) fixes, and the profile says \(wanted)",
        remedy: "capacity_fixes = \(capacity) in [cache], or move the file away to begin a new ring"
      )
    }
    examine(descriptor, path, capacity)
  }

  private static let lossRemedy =
    "put back a copy of it; torpord moves it aside when it starts and begins a new one, and what clients "
    + "were owed of it is lost"

  /// Opens a copy of a ring, as the service would open the file.
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
        let reason = more < 0 ? SystemError.reason(errno) : "it became shorter meanwhile"
        return fail(
          "ring", "'\(path)' cannot be read: \(reason)",
          remedy: "look at `dmesg`: the disk or the card may fail")
      }
      count += more
    }
    do throws(RingError) {
      let ring = try unsafe FixRing(recovering: copy, capacity: capacity)
      pass("ring", Doctor.text(ring.recovery, fixes: Int(ring.head - ring.tail), of: capacity))
    } catch {
      switch error {
      case .otherFormat(let found, let known):
        fail(
          "ring", "'\(path)' has format \(found), and this version knows \(known)",
          remedy: "run the version that wrote it, or move the file away to begin a new ring")
      case .otherCapacity(let found, _):
        fail(
          "ring", "'\(path)' says that it holds \(found) fixes, and its size is of \(capacity)",
          remedy: Doctor.lossRemedy)
      case .notARing:
        fail("ring", "nothing in '\(path)' can be read", remedy: Doctor.lossRemedy)
      case .exhausted:
        fail(
          "ring", "'\(path)' has no number left for a start or a fix",
          remedy: "move the file away to begin a new ring")
      case .capacityOutOfRange, .storageTooSmall, .storageMisaligned:
        preconditionFailure("its size was looked at, and its memory is ours: \(error)")
      }
    }
  }

  private static func text(_ recovery: RingRecovery, fixes: Int, of capacity: Int) -> String {
    if recovery.isNew { return "room for \(capacity) fixes, and none was written" }
    var text = "\(fixes) of \(capacity) slots in use"
    if recovery.missing > 0 { text += "; \(recovery.missing) fixes among them are lost" }
    // After its first start a ring has one.
    if recovery.lostHeaders > 1 {
      text += "; both headers are damaged, and torpord writes them anew when it starts"
    }
    return text
  }
}
