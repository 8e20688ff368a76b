/// The Varlink interface descriptions of the service, as `GetInterfaceDescription` returns them.
public enum LocationInterface {
  /// Description of `org.torpor.Location`; identical to Docs/Reference/org.torpor.Location.varlink.
  public static let text = types + "\n" + methods

  /// Description of `org.varlink.service`, which every Varlink service implements.
  public static let service = """
    # Information that every Varlink service provides about itself.
    interface org.varlink.service

    # Returns vendor, product, version and the implemented interfaces.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # Returns the description of an interface.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The interface does not exist.
    error InterfaceNotFound (interface: string)

    # The interface has no such method.
    error MethodNotFound (method: string)

    # The interface has the method, but this service does not implement it.
    error MethodNotImplemented (method: string)

    # The parameter is missing, unknown, of a wrong type or out of range.
    error InvalidParameter (parameter: string)

    # The caller has no permission.
    error PermissionDenied ()

    # The method must be called with more.
    error ExpectedMore ()

    """

  /// Description of the interface with this name; nil if the service does not implement it.
  public static func text(of name: String) -> String? {
    switch name {
    case CallDecoder.interface: text
    case CallDecoder.service: service
    default: nil
    }
  }
}

extension LocationInterface {
  /// Second half of the description: methods and errors.
  static let methods = """
    # Connects as the client with this name (1 to 64 bytes) of the user at the other end of the socket.
    # An older connection of the same client receives taken_over and loses its session. explicit_sessions:
    # live updates, conditions and background sessions imply no service session. launch_reason: why the
    # service started the program, if it did.
    method Connect(name: string, explicit_sessions: ?bool) -> (
      session: int,
      authorization: Authorization,
      reduced_accuracy: bool,
      deferral_available: bool,
      launch_reason: ?(background_session, region, significant_change, visit)
    )

    # Sends every notice of the session until one of the two connections ends. Call it with more, on a
    # separate connection.
    method Watch(session: int) -> (notice: Notice)

    # Starts standard updates; has no effect if they are running.
    method StartUpdating() -> ()

    # Stops standard updates and ends a deferral.
    method StopUpdating() -> ()

    # Changes settings; omitted ones stay unchanged. desired_accuracy_m: metres, -1 for the best, -2 for
    # the best for navigation. distance_filter_m: metres, -1 for none. background_updates: with when_in_use,
    # updates continue in the background; NotAuthorized if an administrator does not permit it.
    method Configure(
      desired_accuracy_m: ?float,
      distance_filter_m: ?float,
      pauses_automatically: ?bool,
      activity: ?Activity,
      background_updates: ?bool
    ) -> ()

    # Defers delivery of fixes until this distance was travelled or this time has passed; an omitted
    # criterion is unlimited. The end of the deferral is reported by the notice finished, then the fixes.
    method AllowDeferred(distance_m: ?float, timeout_s: ?float) -> ()

    # Ends the deferral now.
    method DisallowDeferred() -> ()

    # Reports a change of the execution state of the process.
    method SetExecution(state: ExecutionState) -> ()

    # Acknowledges the fix with this name and all fixes before it; they are not delivered again.
    method Acknowledge(generation: int, sequence: int) -> ()

    # Acknowledges the visits and region events up to and including this number; unacknowledged ones are
    # delivered again to the next session. Numbers are consecutive, so a missing number means a lost event;
    # up to 64 unacknowledged events are kept.
    method AcknowledgeEvents(number: int) -> ()

    # Requests one fix: the notice report as soon as a sufficiently accurate fix exists, or failure.
    method RequestLocation() -> ()

    # Starts reports of movements of 500 m or more.
    method StartSignificantChange() -> ()

    # Stops reports of significant changes.
    method StopSignificantChange() -> ()

    # Starts notices of visits.
    method StartVisits() -> ()

    # Stops notices of visits.
    method StopVisits() -> ()

    # Monitors a circular region and replaces one of the same kind and name. An unsupported radius or number
    # of regions is reported by a notice. name: 1 to 128 bytes. notify_on_entry, notify_on_exit: true if
    # omitted; ignored for conditions. assuming: unknown if omitted.
    method AddRegion(
      kind: RegionKind,
      name: string,
      latitude_deg: float,
      longitude_deg: float,
      radius_m: float,
      notify_on_entry: ?bool,
      notify_on_exit: ?bool,
      assuming: ?MonitorState
    ) -> ()

    # Stops monitoring a region.
    method RemoveRegion(kind: RegionKind, name: string) -> ()

    # Requests the state of a region, which is reported by a RegionEvent with the event determined.
    method RequestRegionState(kind: RegionKind, name: string) -> ()

    # Returns the client's regions and conditions, including those of its earlier processes.
    method ListRegions() -> (regions: []MonitoredRegion)

    # Opens an iterator of live updates; its elements are notices with its number. At most four may be open.
    method OpenLive(
      configuration: ?(default, automotive_navigation, other_navigation, fitness, airborne)
    ) -> (number: int)

    # Closes an iterator of live updates.
    method CloseLive(number: int) -> ()

    # Requests authorization, which an administrator decides. The request has an effect only if the client is
    # undecided and in use, or, once, if it is authorized when in use and requests always.
    method RequestAuthorization(authorization: (always, when_in_use)) -> ()

    # Opens a service session with the requirements of the program. It ends with its process; at most eight
    # may be open. Unmet requirements are reported by the notice session.
    method OpenServiceSession(
      authorization: (none, when_in_use, always),
      full_accuracy: ?bool
    ) -> (number: int)

    # Closes a service session.
    method CloseServiceSession(number: int) -> ()

    # Opens a background activity session: the client counts as in use while it is in the background.
    # active: whether the session is active, which requires a client that is authorized and either in the
    # foreground or, within 10 s, resuming the session of its last process. The session outlives its
    # process, which the service then starts again.
    method OpenBackgroundSession() -> (active: bool)

    # Closes one background session; the background activity ends with the last one.
    method CloseBackgroundSession() -> ()

    # Returns the newest fix that was delivered to this client.
    method GetLocation() -> (fix: ?Fix)

    # Returns the state of the service.
    method GetStatus() -> (status: Status)

    # Returns the current plan for the hardware. Refused to a user without an authorized client.
    method GetPowerPlan() -> (plan: PowerPlan)

    # Returns time and energy since the service started. Refused to a user without an authorized client.
    method GetEnergy() -> (energy: Energy)

    # Transfers all undelivered fixes of the session as records on this connection, which must be a separate
    # one. Call it with upgrade. After the reply, the service sends a header of 32 bytes and count records of
    # 80 bytes, and closes the connection. gap: fixes lost before the first record. Acknowledge as usual.
    method Drain(session: int) -> (count: int, gap: ?Gap)

    # Transfers the undelivered fixes of a client of the caller's user, whether or not a process of it is
    # connected. The fixes stay undelivered for that client. Call it with upgrade.
    method ReadBacklog(name: string) -> (count: int, gap: ?Gap)

    # Drains the receiver's buffer and delivers all deferred fixes now; deferrals continue afterwards. For
    # administrators, like all following methods.
    method Flush() -> ()

    # Returns all registered clients, and those with a decision by a command. asks: an undecided request.
    method ListClients() -> (clients: []Client)

    # Authorizes a client to use location.
    method AllowClient(user: int, name: string, authorization: (always, when_in_use)) -> ()

    # Denies location to a client.
    method DenyClient(user: int, name: string) -> ()

    # Switches a client to reduced or full accuracy.
    method ReduceClient(user: int, name: string, reduced_accuracy: bool) -> ()

    # Removes a client: the decision about it, its services, regions and undelivered fixes. The service closes
    # its connections. A program that connects with this name again is a new, undecided client.
    method ForgetClient(user: int, name: string) -> ()

    # Drain and ReadBacklog must be called with upgrade.
    error ExpectedUpgrade ()

    # The connection has no session; call Connect first.
    error NotConnected ()

    # The connection already has a session.
    error AlreadyConnected ()

    # The session does not exist or belongs to another user.
    error UnknownSession (session: int)

    # The client is not authorized to use location.
    error NotAuthorized ()

    # The limit for one user, or for all users together, is reached.
    error LimitExceeded (what: string, limit: int)

    # The client does not exist.
    error UnknownClient (user: int, name: string)

    # An acknowledgement names a fix that never existed. The fixes of this run have this generation and the
    # sequence numbers from first_sequence up to, but not including, next_sequence; none exist if both are equal.
    error UnknownFix (generation: int, first_sequence: int, next_sequence: int)

    # A command cannot decide about this client, because the rule at this line of clients.toml does. Without
    # line, the file does not exist, and root and the service's own user are always authorized.
    error DecidedByFile (line: ?int)

    # The board has no source for the requested data.
    error NotAvailable (what: string)

    """
}

extension LocationInterface {
  /// First half of the description: types.
  static let types = """
    # Location for programs on a board that sleeps: Core Location's services over a socket.
    #
    # A program opens two connections. On the first it calls Connect, which returns a session, and then any
    # other methods; its end counts as the end of the program. On the second it calls Watch with this session
    # and receives every notice. Fixes are named by generation and sequence; unacknowledged fixes are
    # delivered again to the next session of the same client, under the same name.
    #
    # Times are integers of microseconds: boot_us on the board's boot clock (CLOCK_BOOTTIME), utc_us since
    # 1970-01-01T00:00:00Z, omitted while UTC is unknown. Unlimited, unknown and unchanged values are omitted.
    # Error codes are Core Location's numbers (CLError).
    interface org.torpor.Location

    # A point in time. boot_us is comparable only within one boot of the board.
    type Moment (
      boot_us: int,
      utc_us: ?int
    )

    # How a position was determined.
    type Quality (
      autonomous,
      differential,
      rtk_fixed,
      rtk_float,
      dead_reckoning,
      manual,
      simulated,
      surveyed,
      gnss_dead_reckoning
    )

    # One position. Accuracies are one sigma; horizontal: sqrt(sigma_east^2 + sigma_north^2).
    # mode is "2d" or "3d". Speeds are over ground, courses clockwise from true north.
    # altitude_m is above mean sea level, ellipsoidal_altitude_m above WGS 84.
    # date_uncertain: the UTC date was repaired or could not be checked.
    # A client of reduced accuracy receives a position within about 5 km and neither altitude, speed nor course.
    type Fix (
      generation: int,
      sequence: int,
      boot_us: int,
      utc_us: ?int,
      latitude_deg: float,
      longitude_deg: float,
      altitude_m: ?float,
      ellipsoidal_altitude_m: ?float,
      speed_mps: ?float,
      course_deg: ?float,
      horizontal_accuracy_m: ?float,
      vertical_accuracy_m: ?float,
      speed_accuracy_mps: ?float,
      course_accuracy_deg: ?float,
      satellites_used: ?int,
      mode: string,
      quality: ?Quality,
      date_uncertain: ?bool,
      simulated: ?bool,
      accessory: ?bool
    )

    # Fixes that the client will not receive: their count, the sequence range from first up to, but not
    # including, next, and the time range from and to. may_be_more: an unknown number of further fixes is
    # missing, because of a power cut, or because the queue of a suspended client was full.
    type Gap (
      count: int,
      first: int,
      next: int,
      from: ?Moment,
      to: ?Moment,
      may_be_more: ?bool
    )

    # The end of a deferral; without code, a criterion was met.
    type Finished (
      code: ?int
    )

    # An error: 0 if no location is available now and the service keeps trying, 1 if denied.
    type Failure (
      code: int
    )

    # A stay at one location. Without arrival, it started before monitoring; without departure, it has not
    # ended. number: the argument for AcknowledgeEvents, here and in RegionEvent.
    type Visit (
      number: ?int,
      latitude_deg: float,
      longitude_deg: float,
      horizontal_accuracy_m: float,
      arrival: ?Moment,
      departure: ?Moment
    )

    # A region of a location manager, or a condition of a monitor. The two kinds have separate names.
    type RegionKind (
      region,
      condition
    )

    # State of a region.
    type RegionState (
      unknown,
      inside,
      outside
    )

    # State of a condition.
    type MonitorState (
      unknown,
      satisfied,
      unsatisfied,
      unmonitored
    )

    # An event of a region or condition. Members by event: entered and exited have at; determined has state;
    # monitor has monitor_state, at, and, if not monitored, problem; failed has code.
    type RegionEvent (
      number: ?int,
      kind: RegionKind,
      name: string,
      event: (entered, exited, determined, monitor, failed),
      state: ?RegionState,
      monitor_state: ?MonitorState,
      problem: ?(limit_exceeded, unsupported, persistence_unavailable),
      code: ?int,
      at: ?Moment
    )

    # A monitored circular region. state: the current state. last_event: the last event that was acknowledged
    # since the region was added; omitted if there was none.
    type MonitoredRegion (
      kind: RegionKind,
      name: string,
      latitude_deg: float,
      longitude_deg: float,
      radius_m: float,
      notify_on_entry: ?bool,
      notify_on_exit: ?bool,
      state: MonitorState,
      last_event: ?RegionEvent
    )

    # Why live updates deliver no location, or a coarse one.
    type LiveFlag (
      authorization_denied,
      authorization_denied_globally,
      authorization_restricted,
      insufficiently_in_use,
      location_unavailable,
      accuracy_limited,
      service_session_required,
      authorization_request_in_progress
    )

    # An element of the live updates of the iterator with this number. dropped: number of fixes before it that
    # were skipped because they arrived faster than they could be delivered.
    type LiveElement (
      number: int,
      location: ?Fix,
      flags: []LiveFlag,
      stationary: bool,
      dropped: ?int
    )

    # Whether a client may use location.
    type Authorization (
      not_determined,
      restricted,
      denied,
      always,
      when_in_use
    )

    # The new authorization of the client.
    type AuthorizationChange (
      authorization: Authorization,
      reduced_accuracy: bool
    )

    # Services that are shed when the battery is low, in the order of the board's profile.
    type Promise (
      every_fix,
      accuracy,
      updates,
      visits,
      regions,
      significant
    )

    # Why the service session with this number does not grant its requirements; sent immediately after it is
    # opened, then with each change.
    type SessionDiagnostics (
      number: int,
      flags: []LiveFlag,
      full_accuracy_denied: ?bool,
      always_authorization_denied: ?bool
    )

    # A notice to a client: exactly one of these members.
    # fixes: a batch, oldest first; a long batch is split into consecutive notices. With reduced accuracy it
    # is one coarse fix.
    # report: one fix that does not belong to the running updates: of significant change, or of a request.
    # degraded: the services that the client uses and that are shed; empty if all are restored.
    # paused, resumed and taken_over are true if present. taken_over is the last notice: another connection
    # has taken over this client.
    type Notice (
      fixes: ?[]Fix,
      report: ?Fix,
      finished: ?Finished,
      gap: ?Gap,
      visit: ?Visit,
      region: ?RegionEvent,
      live: ?LiveElement,
      authorization: ?AuthorizationChange,
      paused: ?bool,
      resumed: ?bool,
      failure: ?Failure,
      degraded: ?[]Promise,
      session: ?SessionDiagnostics,
      taken_over: ?bool
    )

    # Execution state of a client's process. A suspended process receives no notices until it runs again; the
    # service records its fixes until its queue is full.
    type ExecutionState (
      foreground,
      background,
      suspended
    )

    # The user's activity; it determines when updates pause.
    type Activity (
      other,
      automotive_navigation,
      fitness,
      other_navigation,
      airborne
    )

    # Sleep state of the board.
    type BoardState (
      awake,
      idle,
      suspended,
      off
    )

    # The receiver. acquiring: it runs without a fix. on: it runs; a caller whose user may not use location
    # receives no more detail. lost: it does not respond to its driver. streaming: it does not respond, but sends
    # fixes, which are delivered; it can neither sleep nor batch. answers: whether it sends the expected output.
    # since: time of the last change of state or answers. heard: time of the last byte. fixed: time of its newest
    # fix, delivered or not; omitted before the first fix, and for a caller whose user may not use location.
    # remedy: text for display, why the receiver does not respond and how to fix it.
    type Receiver (
      state: (off, backup, standby, starting, acquiring, tracking, powersave, batching, on, lost,
        streaming),
      answers: bool,
      since: Moment,
      heard: ?Moment,
      fixed: ?Moment,
      remedy: ?string
    )

    # A service that a client can start.
    type Service (
      updates,
      deferred_updates,
      significant_change,
      visits,
      regions,
      live_updates,
      request,
      background_session
    )

    # A client that keeps board or receiver on, now or later. keeps_receiver: the receiver is on continuously
    # for it. keeps_board: the board is awake for it, continuously or for each fix. next: time at which the next
    # single fix is due, or deferred fixes are checked. Without execution, no process of it is connected.
    type Use (
      user: int,
      name: string,
      execution: ?ExecutionState,
      services: []Service,
      needs: (nothing, single_fixes, position, every_fix_later, every_fix),
      keeps_receiver: bool,
      keeps_board: bool,
      next: ?Moment
    )

    # A cause that keeps the board from sleeping as deeply as it could. inhibited: the board is kept awake for now.
    # acknowledgement: a client has not acknowledged a delivery. every_fix: a client requires each fix immediately.
    # receiver_runs: the receiver sends live fixes, and its bytes do not wake a suspended board.
    # receiver_cannot_rest: the same, without demand. receiver_busy: communication with the receiver is in
    # progress. receiver_cannot_wake: the receiver batches fixes, and its pin does not wake a suspended board.
    # no_suspend: the profile has no suspended state. soon: the next wake time is too near. system: the kernel, a
    # missing permission or a program's lock prevents it; detail has the reason. stays_on: the board could be
    # powered off. user and name: the client, as far as the caller may see it.
    type Hold (
      reason: (inhibited, acknowledgement, every_fix, receiver_runs, receiver_cannot_rest, receiver_busy, receiver_cannot_wake, no_suspend, soon, system, stays_on),
      user: ?int,
      name: ?string,
      detail: ?string
    )

    # The state of the service. ring_fixes: slots in use, of ring_capacity. newest: time of the newest fix.
    # sleep_inhibited: whether sleep is inhibited. holds: all causes that keep the board from deeper sleep.
    # demanding: number of clients with a demand, connected or not. uses: their demands; an administrator receives
    # all of them, other callers those of their own user. For a caller whose user may not use location, the service
    # omits UTC, ring_fixes, newest, next_sequence and plan, counts only clients of that user, and lists only the
    # holds no_suspend, system and stays_on.
    type Status (
      version: string,
      board: string,
      now: Moment,
      generation: int,
      next_sequence: ?int,
      ring_capacity: int,
      ring_fixes: ?int,
      newest: ?Moment,
      clients: int,
      battery_percent: ?int,
      given_up: []Promise,
      sleep_inhibited: bool,
      holds: []Hold,
      receiver: ?Receiver,
      plan: ?PowerPlan,
      demanding: int,
      uses: []Use
    )

    # The current plan for the hardware, until the next event. watermark: number of fixes in the receiver's
    # buffer at which it is drained. wake: the alarm. listens: whether the receiver's bytes also wake the board.
    type PowerPlan (
      receiver: (off, standby, tracking, powersave, batching),
      watermark: ?int,
      board: BoardState,
      wake: ?Moment,
      listens: bool
    )

    # Time and energy: seconds in each state, and millijoules computed from them with the power that the
    # board's profile gives for each state; nothing is measured. board_mj is the board without its receiver:
    # awake while the service itself computes, suspended according to the kernel's clocks, otherwise idle.
    type Energy (
      since: Moment,
      until: Moment,
      receiver_mj: float,
      board_mj: float,
      host_wakes: int,
      wakes: (
        alarm: int,
        bytes: int,
        batch_pin: int,
        request: int,
        motion: int
      ),
      receiver_s: (
        off: float,
        backup: float,
        standby: float,
        acquiring: float,
        tracking: float,
        powersave: float,
        batching: float
      ),
      board_s: (
        awake: float,
        idle: float,
        suspended: float,
        off: float
      )
    )

    # A client in the list for administrators: a user ID, and the name that distinguishes the user's programs.
    # Without execution, no process of it is connected.
    # background_session: whether one is active or waits for the next process. asks: the authorization that it
    # requested while undecided, by RequestAuthorization or by using a service that needs it (live updates, a
    # condition, a service session or a background session).
    type Client (
      user: int,
      name: string,
      authorization: Authorization,
      reduced_accuracy: bool,
      execution: ?ExecutionState,
      background_session: ?bool,
      asks: ?Authorization
    )

    """
}
