import BoardHardware
import CGPIO
import Glibc
import LocationHAL

/// An open GPIO chip. Each requested line keeps its chip open: in libgpiod version 1, closing the chip releases its
/// lines.
@safe final class GPIOChip {
  fileprivate let handle: OpaquePointer

  /// Opens a chip; nil on failure, with the reason in `errno`.
  init?(path: String) {
    guard let handle = unsafe cgpio_open(path) else { return nil }
    unsafe self.handle = handle
  }

  deinit { unsafe cgpio_close(handle) }

  /// Offset of the line with that name; nil if the chip has none.
  func offset(ofLineNamed name: String) -> UInt32? {
    let offset = unsafe cgpio_find(handle, name)
    return offset < 0 ? nil : UInt32(offset)
  }

  /// The kernel's information about a line; nil if the chip has no line with that offset.
  func info(_ number: UInt32) -> GPIOLineInfo? {
    var info = cgpio_info()
    guard unsafe cgpio_info(handle, number, &info) == 0 else { return nil }
    return GPIOLineInfo(
      name: GPIOChip.text(info.name), holder: info.is_used == 0 ? nil : GPIOChip.text(info.consumer)
    )
  }

  private static func text<T>(_ bytes: T) -> String {
    unsafe withUnsafeBytes(of: bytes) {
      unsafe KernelText.printable($0.prefix { $0 != 0 })
    }
  }
}

/// The kernel's public information about a line.
struct GPIOLineInfo: Equatable {
  /// Name; empty if the line has none.
  var name: String
  /// Holder of the line; nil while it is free.
  var holder: String?
}

/// The GPIO chips of the board. A chip is opened when one of its lines is first looked up.
final class GPIOChips {
  /// A line that was found on a chip.
  struct ResolvedLine {
    let line: GPIOLine
    let chip: GPIOChip
    let offset: UInt32

    /// Holder of the line now; nil while it is free.
    var holder: String? { chip.info(offset)?.holder }
    /// Identity of the line, equal for all its names.
    var identity: Identity { Identity(chip: ObjectIdentifier(chip), offset: offset) }
  }

  /// Identity of a line of the board.
  struct Identity: Hashable {
    let chip: ObjectIdentifier
    let offset: UInt32
  }

  private let folder: String
  private var chips: [String: GPIOChip] = [:]
  /// The same chips by device number: a chip may have a second name, as gpiochip4 on a Raspberry Pi 5.
  private var devices: [dev_t: GPIOChip] = [:]

  /// - Parameter folder: Folder of the chips' devices.
  init(folder: String = "/dev") { self.folder = folder }

  /// Names of the chips, sorted.
  var names: [String] { SystemFiles.names(in: folder).filter { $0.hasPrefix("gpiochip") } }

  /// Finds a line by name or by chip and offset.
  func find(_ line: GPIOLine) throws(GPIOFault) -> ResolvedLine {
    switch line.address {
    case .offset(let number, let name):
      let chip = try open(name)
      guard chip.info(number) != nil else { throw .noLine(line) }
      return ResolvedLine(line: line, chip: chip, offset: number)
    case .name(let name): return try find(line, named: name)
    }
  }

  private func find(_ line: GPIOLine, named name: String) throws(GPIOFault) -> ResolvedLine {
    let names = names
    guard !names.isEmpty else { throw .noChip(path: "\(folder)/gpiochip0") }
    var found: [(chip: String, line: ResolvedLine)] = []
    var firstFault: GPIOFault?
    for chip in names {
      do throws(GPIOFault) {
        let opened = try open(chip)
        guard let number = opened.offset(ofLineNamed: name),
          !found.contains(where: { $0.line.chip === opened })
        else { continue }
        found.append((chip, ResolvedLine(line: line, chip: opened, offset: number)))
      } catch {
        firstFault = firstFault ?? error
      }
    }
    guard let first = found.first else { throw firstFault ?? .noLine(line) }
    guard found.count == 1 else { throw .ambiguous(line, chips: found.map(\.chip)) }
    return first.line
  }

  func open(_ name: String) throws(GPIOFault) -> GPIOChip {
    if let chip = chips[name] { return chip }
    let path = "\(folder)/\(name)"
    var status = stat()
    let device = unsafe stat(path, &status) == 0 ? status.st_rdev : 0
    if device != 0, let chip = devices[device] {
      chips[name] = chip
      return chip
    }
    guard let chip = GPIOChip(path: path) else {
      let code = errno
      guard code == EACCES || code == EPERM else { throw .noChip(path: path) }
      throw .notPermitted(path: path, group: GPIOChips.group(of: path))
    }
    chips[name] = chip
    if device != 0 { devices[device] = chip }
    return chip
  }

  /// Group with read and write access to a device; nil if that group is root's or no group has access.
  private static func group(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_gid != 0, status.st_mode & 0o060 == 0o060,
      let entry = unsafe getgrgid(status.st_gid), let name = unsafe entry.pointee.gr_name
    else { return nil }
    return unsafe String(cString: name)
  }
}

/// A requested line: an output or an input. Deinitialisation releases the line, which may then return to its default
/// level.
@safe final class GPIORequest {
  /// Use of a requested line.
  enum Use {
    /// An output, with its initial state.
    case output(Bool)
    /// An input with both edges.
    case edges
    /// An input for pulses: edges towards active, which end no wait.
    case pulses
  }

  /// Consumer name of our lines, which other programs see.
  static let consumer = "torpord"

  private let handle: OpaquePointer
  private let chip: GPIOChip

  /// Requests a line.
  init(_ resolved: GPIOChips.ResolvedLine, for use: Use) throws(GPIOFault) {
    let flags = resolved.line.flags
    let handle =
      switch use {
      case .output(let isActive):
        unsafe cgpio_drive(
          resolved.chip.handle, resolved.offset, flags, isActive ? 1 : 0, GPIORequest.consumer)
      case .edges:
        unsafe cgpio_watch_edges(resolved.chip.handle, resolved.offset, flags, GPIORequest.consumer)
      case .pulses:
        unsafe cgpio_watch_pulses(
          resolved.chip.handle, resolved.offset, flags, GPIORequest.consumer)
      }
    guard let handle = unsafe handle else { throw GPIORequest.fault(errno, resolved) }
    unsafe self.handle = handle
    chip = resolved.chip
  }

  deinit { unsafe cgpio_release(handle) }

  private static func fault(_ code: Int32, _ resolved: GPIOChips.ResolvedLine) -> GPIOFault {
    switch code {
    case EBUSY: .inUse(resolved.line, by: resolved.holder ?? "kernel")
    case EINVAL, EOPNOTSUPP, ENXIO: .unsupported(resolved.line)
    default: .refused(resolved.line, code: code)
    }
  }

  /// Sets the output; false if the kernel refuses.
  func set(_ isActive: Bool) -> Bool { unsafe cgpio_set(handle, isActive ? 1 : 0) == 0 }

  /// Whether the line is active now; nil if it cannot be read.
  var isActive: Bool? {
    let value = unsafe cgpio_get(handle)
    return value < 0 ? nil : value == 1
  }

  /// Descriptor that is readable while edges are queued; for `edges` only.
  var descriptor: Int32 { unsafe cgpio_descriptor(handle) }

  /// Reads the next edge; nil if none is queued.
  func nextEdge() -> GPIOEdge? {
    var edge = cgpio_edge()
    guard unsafe cgpio_next_edge(handle, &edge) == 1 else { return nil }
    return GPIOEdge(isRising: edge.is_rising != 0, monotonic_ns: edge.time_ns)
  }

  /// Reads all queued pulses and returns the `CLOCK_MONOTONIC` time of the newest, ns; nil if there was none. For
  /// `pulses` only. One system call, and one more for each sixteen pulses.
  ///
  /// - Throws: `PinFault.lineLost` if the chip is gone.
  func consumePulses() throws(PinFault) -> Int64? {
    var time_ns: Int64 = 0
    let found = unsafe cgpio_last_pulse(handle, &time_ns)
    guard found >= 0 else { throw .lineLost }
    return found == 1 ? time_ns : nil
  }
}

/// An edge of a line.
struct GPIOEdge: Equatable {
  /// Whether the line became active; else it became inactive.
  var isRising: Bool
  /// Time of the edge on `CLOCK_MONOTONIC`, ns.
  var monotonic_ns: Int64
}

extension GPIOLine {
  /// The wiring as flags of CGPIO.
  fileprivate var flags: UInt32 {
    var flags: UInt32 = isActiveLow ? UInt32(CGPIO_ACTIVE_LOW) : 0
    switch bias {
    case .pullUp: flags |= UInt32(CGPIO_PULL_UP)
    case .pullDown: flags |= UInt32(CGPIO_PULL_DOWN)
    case .disabled: flags |= UInt32(CGPIO_NO_BIAS)
    case nil: break
    }
    switch drive {
    case .openDrain: flags |= UInt32(CGPIO_OPEN_DRAIN)
    case .openSource: flags |= UInt32(CGPIO_OPEN_SOURCE)
    case nil: break
    }
    return flags
  }
}
