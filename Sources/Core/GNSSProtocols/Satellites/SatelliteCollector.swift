import LocationTypes

/// Assembles satellites in view and dilutions of precision from a receiver's messages.
///
/// # Problem
///
/// UBX-NAV-SAT contains all satellites. In NMEA, each system and signal has a group of GSV sentences, the satellites used
/// are in GSA, and neither contains a time. Receivers send them in different orders, before, between or after the
/// sentences of the fix, and often only with every nth epoch. A fix must not wait for them, so they are collected here
/// and not by ``EpochAssembler``.
///
/// # States
///
/// A *cycle* is the sequence of GSV groups of one epoch.
///
///                    repeated sentence of a group,        last page of as many groups as
///                    or any GSV after `cycleGap`          the previous cycle contained
///     ┌──────────┐ ─────────────────────────────▶ ┌──────┐ ──────────────────────────▶ ┌───────────┐
///     │ no cycle │                                │ open │                             │ published │
///     └──────────┘ ─────────────────────────────▶ └──────┘ ◀────────────────────────── └───────────┘
///                    any GSV                      publishes the    a repeated sentence, or
///                                                 open cycle       any GSV after `cycleGap`
///
/// A further group after the publication publishes the cycle again. ``view(at:)`` also returns an open cycle that has
/// received nothing for ``cycleGap``.
///
/// GSA sentences are contiguous, or interleaved with GSV: the set of satellites used is complete with the first sentence
/// of another kind. It applies to the cycle published before or after it.
///
/// # Invariants
///
/// - A view contains satellites of one cycle or of one NAV-SAT.
/// - All storage is inline: two views of at most 64 satellites, 16 groups. Each message is O(satellites).
///
/// # Who changes what
///
/// Only `collect(_:from:at:)` and `removeAll()` change the collector. Its owner calls the first with each message while
/// a client is interested in satellites. Depends on `LocationTypes` and the message types of this module.
public struct SatelliteCollector: Sendable {
  /// Silence after which an open cycle is complete.
  public static let cycleGap = Interval.milliseconds(500)
  /// Time within which GSA sentences apply to a published view.
  private static let usedSpan = Interval.seconds(1)

  /// A group of GSV sentences in the open cycle: those of a talker and a signal.
  private struct Group: Sendable {
    var talker = Talker.combined
    var signal: UInt8 = 0
    /// Number of the last sentence.
    var page: UInt8 = 0
  }

  // The cycle.
  private var open = SatelliteView()
  private var groups = InlineArray<16, Group>(repeating: Group())
  private var groupCount = 0
  private var finishedGroups = 0
  /// Number of groups in the previous cycle; nil before the second cycle.
  private var previousGroups: Int?
  private var isPublished = true

  // The newest view.
  private var published = SatelliteView()
  private var hasView = false
  /// Time of week of the view, if it is a NAV-SAT.
  private var viewTime_ms: UInt32?

  // Satellites used and dilutions.
  private var used = UsedSatellites()
  private var newUsed = UsedSatellites()
  private var newDilutions = DilutionsOfPrecision()
  private var isReadingUsed = false
  private var dilutions = DilutionsOfPrecision()
  private var dilutionsTime_ms: UInt32?

  /// Creates a collector without a view.
  public init() {}

  /// Removes all satellites.
  public mutating func removeAll() { self = SatelliteCollector() }

  /// The newest view; nil before the first one. O(1).
  public func view(at now: Instant) -> SatelliteView? {
    guard !isPublished, now - open.time >= SatelliteCollector.cycleGap else {
      return hasView ? published : nil
    }
    var view = open
    complete(&view)
    return view
  }

  /// Collects the satellites of a message: GSV, GSA, NAV-SAT, NAV-SVINFO, NAV-DOP.
  ///
  /// - Parameter decoder: The decoder that has returned `message` last.
  public mutating func collect(
    _ message: GNSSMessage, from decoder: borrowing GNSSDecoder, at now: Instant
  ) {
    switch message {
    case .gsv(let m): collect(m, at: now)
    case .gsa(let m): collect(m)
    case .navigation(let part): collect(part, from: decoder, at: now)
    case .rmc, .gga, .gll, .gns, .zda, .vtg, .gst, .gbs, .ubloxPosition: finishUsed(at: now)
    case .garminErrors, .garminAltitude, .commandResult, .receiverNotice, .navPVT, .hnrPVT,
      .acknowledged, .refused, .configurationValues, .receiverVersion, .batchStatus, .batchEntry,
      .aidingEntry, .aidingAnswer, .unknown, .malformed:
      break
    }
  }

  // MARK: GSV

  private mutating func collect(_ m: GSV, at now: Instant) {
    let page = m.number ?? 1
    var index = group(of: m)
    let isRepeated = index.map { page <= groups[$0].page } ?? false
    if groupCount > 0, isRepeated || now - open.time >= SatelliteCollector.cycleGap {
      publishOpen()
      beginCycle(at: now)
      index = nil
    } else if groupCount == 0 {
      beginCycle(at: now)
    }
    isPublished = false
    open.time = now
    if let index {
      groups[index].page = page
    } else if groupCount < groups.count {
      groups[groupCount] = Group(talker: m.talker, signal: m.signal ?? 0xFF, page: page)
      groupCount += 1
    }
    for i in 0..<Int(m.count) {
      if let satellite = m.resolvedSatellite(i) { open.add(satellite) }
    }
    guard page >= m.sentences ?? page else { return }
    finishedGroups += 1
    if let previousGroups, finishedGroups >= previousGroups { publishOpen() }
  }

  private func group(of m: GSV) -> Int? {
    for i in 0..<groupCount
    where groups[i].talker == m.talker && groups[i].signal == m.signal ?? 0xFF {
      return i
    }
    return nil
  }

  private mutating func beginCycle(at now: Instant) {
    if groupCount > 0 { previousGroups = groupCount }
    open = SatelliteView(at: now)
    groupCount = 0
    finishedGroups = 0
  }

  /// Publishes the open cycle, unless nothing was added since its last publication.
  private mutating func publishOpen() {
    guard !isPublished else { return }
    published = open
    complete(&published)
    hasView = true
    viewTime_ms = nil
    isPublished = true
  }

  /// Adds satellites used and dilutions to a view.
  private func complete(_ view: inout SatelliteView) {
    view.dilutions = isReadingUsed ? newDilutions : dilutions
    (isReadingUsed ? newUsed : used).mark(&view)
  }

  // MARK: GSA

  private mutating func collect(_ m: GSA) {
    if !isReadingUsed {
      isReadingUsed = true
      newUsed = UsedSatellites()
      newDilutions = DilutionsOfPrecision()
    }
    newUsed.insert(m)
    if let dilution = m.positionDOP_e2 { newDilutions.position_e2 = dilution }
    if let dilution = m.horizontalDOP_e2 { newDilutions.horizontal_e2 = dilution }
    if let dilution = m.verticalDOP_e2 { newDilutions.vertical_e2 = dilution }
  }

  /// Ends a sequence of GSA sentences. They apply to a view that was published just before them, too.
  private mutating func finishUsed(at now: Instant) {
    guard isReadingUsed else { return }
    isReadingUsed = false
    used = newUsed
    dilutions = newDilutions
    guard hasView, viewTime_ms == nil, now - published.time <= SatelliteCollector.usedSpan else {
      return
    }
    complete(&published)
  }

  // MARK: UBX

  private mutating func collect(
    _ part: UBXNavigation, from decoder: borrowing GNSSDecoder, at now: Instant
  ) {
    switch part {
    case .satellites(let summary), .channels(let summary):
      published = SatelliteView(at: now)
      decoder.addSatellites(of: summary, to: &published)
      hasView = true
      isPublished = true
      groupCount = 0
      viewTime_ms = summary.timeOfWeek_ms
      if dilutionsTime_ms == viewTime_ms { published.dilutions = dilutions }
    case .dilutions(let m):
      dilutions = DilutionsOfPrecision(m)
      dilutionsTime_ms = m.timeOfWeek_ms
      if hasView, dilutionsTime_ms == viewTime_ms { published.dilutions = dilutions }
    case .ecefPosition, .position, .status, .ecefSolution, .ecefVelocity, .velocity,
      .precisePosition, .gpsTime, .utc, .leapSeconds, .endOfEpoch:
      break
    }
  }
}
