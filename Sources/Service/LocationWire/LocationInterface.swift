/// The interfaces of the service, as `GetInterfaceDescription` tells them.
public enum LocationInterface {
  /// `org.torpor.Location`; the same as Docs/Reference/org.torpor.Location.varlink.
  public static let text = types + "\n" + methods

  /// `org.varlink.service`, which every Varlink service has.
  public static let service = """
    # What every Varlink service tells of itself.
    interface org.varlink.service

    # Who made it, what it is, and which interfaces it has.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # The text of an interface.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # There is no such interface.
    error InterfaceNotFound (interface: string)

    # The interface has no such method.
    error MethodNotFound (method: string)

    # The interface has the method, and this service does not.
    error MethodNotImplemented (method: string)

    # That parameter is missing, unknown, of a wrong type or out of range.
    error InvalidParameter (parameter: string)

    # The caller may not.
    error PermissionDenied ()

    # The method is to be called with more.
    error ExpectedMore ()

    """

  /// The text of the interface of that name; nil if this service has none.
  public static func text(of name: String) -> String? {
    switch name {
    case CallDecoder.interface: text
    case CallDecoder.service: service
    default: nil
    }
  }
}

extension LocationInterface {
  /// The second half: methods and errors.
  static let methods = """
    # This connection speaks for the client of that name (1 to 64 bytes) and of the user at its other end.
    # An older connection that does is told taken_over and speaks for it no longer. explicit_sessions: no
    # service session is implied by live updates, conditions or a background session. launch_reason: what
    # the service has started the program for, if it has.
    method Connect(name: string, explicit_sessions: ?bool) -> (
      session: int,
      authorization: Authorization,
      reduced_accuracy: bool,
      deferral_available: bool,
      launch_reason: ?(background_session, region, significant_change, visit)
    )

    # Every notice of the session, for as long as both connections live. Call it with more, on a connection
    # of its own.
    method Watch(session: int) -> (notice: Notice)

    # Standard updates begin; again does nothing.
    method StartUpdating() -> ()

    # Standard updates end, and a deferral with them.
    method StopUpdating() -> ()

    # Changes settings; what is left out stays as it is. desired_accuracy_m: metres, -1 for the best, -2 for
    # the best for navigation. distance_filter_m: metres, -1 for none. background_updates: with when_in_use,
    # updates go on in the background; NotAuthorized where an administrator does not let it.
    method Configure(
      desired_accuracy_m: ?float,
      distance_filter_m: ?float,
      pauses_automatically: ?bool,
      activity: ?Activity,
      background_updates: ?bool
    ) -> ()

    # Fixes may wait until so many metres were travelled or so many seconds are over; what is left out is
    # unlimited. How it ended comes as a notice: finished, then the fixes.
    method AllowDeferred(distance_m: ?float, timeout_s: ?float) -> ()

    # The deferral ends now.
    method DisallowDeferred() -> ()

    # The process changed its state.
    method SetExecution(state: ExecutionState) -> ()

    # The fix of that name and all before it are handled for good.
    method Acknowledge(generation: int, sequence: int) -> ()

    # The visits and region events up to that number are handled for good; what was not is told again to the
    # next session. Numbers follow each other, so one that is missing was lost: 64 may wait.
    method AcknowledgeEvents(number: int) -> ()

    # One fix, as soon as there is a good one: a report, or a failure.
    method RequestLocation() -> ()

    # Reports of moves by 500 m or more begin.
    method StartSignificantChange() -> ()

    # Reports of such moves end.
    method StopSignificantChange() -> ()

    # Visits are told from now on.
    method StartVisits() -> ()

    # Visits are told no longer.
    method StopVisits() -> ()

    # A circle is monitored; another of the same kind and name is replaced. A radius or a number of circles
    # that is not possible comes as a notice. name: 1 to 128 bytes. notify_on_entry, notify_on_exit: true
    # when left out; conditions do not look at them. assuming: unknown when left out.
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

    # A circle is monitored no longer.
    method RemoveRegion(kind: RegionKind, name: string) -> ()

    # The state of a region, which comes as a notice: determined.
    method RequestRegionState(kind: RegionKind, name: string) -> ()

    # The client's regions and conditions, of its earlier processes too.
    method ListRegions() -> (regions: []MonitoredRegion)

    # A new iterator of live updates; its elements come as notices with its number. At most four are open.
    method OpenLive(
      configuration: ?(default, automotive_navigation, other_navigation, fitness, airborne)
    ) -> (number: int)

    # That iterator has ended.
    method CloseLive(number: int) -> ()

    # Asks for permission. Nothing comes of it unless nobody has decided and the client is in use, or it may
    # when in use and asks for always, once. An administrator decides.
    method RequestAuthorization(authorization: (always, when_in_use)) -> ()

    # A service session: what the program needs. It ends with its process; eight are open at most. What it
    # lacks comes as notices: session.
    method OpenServiceSession(
      authorization: (none, when_in_use, always),
      full_accuracy: ?bool
    ) -> (number: int)

    # That service session ends.
    method CloseServiceSession(number: int) -> ()

    # A background activity session: the client counts as in use while it is in the background. active: it
    # is, which takes a client that is authorized, and in the foreground or resuming the one of its last
    # process within 10 s. It outlives its process, which is then started again.
    method OpenBackgroundSession() -> (active: bool)

    # One background session ends; the last one ends it for good.
    method CloseBackgroundSession() -> ()

    # The newest fix that was delivered to this client.
    method GetLocation() -> (fix: ?Fix)

    # How the service is.
    method GetStatus() -> (status: Status)

    # What the hardware is to do. Refused to a user none of whose clients may use location.
    method GetPowerPlan() -> (plan: PowerPlan)

    # Where time and energy went since the service started. Refused to a user none of whose clients may use location.
    method GetEnergy() -> (energy: Energy)

    # All fixes that the session is owed now, as records on this connection, which must be one of its own.
    # Call it with upgrade. After the reply come a header of 32 bytes and count records of 80 bytes, then the
    # service closes the connection. gap: what was lost before the first. Acknowledge as ever.
    method Drain(session: int) -> (count: int, gap: ?Gap)

    # The same for a client of the caller's user by its name, whether a process of it is there or not, which
    # loses nothing by it: what it is owed is told to it as if nobody had looked. Call it with upgrade.
    method ReadBacklog(name: string) -> (count: int, gap: ?Gap)

    # All that waits is told now: the receiver's buffer is emptied, and deferrals go on after it. For
    # administrators, as all that follow.
    method Flush() -> ()

    # All clients that the service knows, and those about which a command has decided. asks: an undecided request.
    method ListClients() -> (clients: []Client)

    # That client may use location.
    method AllowClient(user: int, name: string, authorization: (always, when_in_use)) -> ()

    # That client may not.
    method DenyClient(user: int, name: string) -> ()

    # That client is to know no more than about where it is, or all again.
    method ReduceClient(user: int, name: string, reduced_accuracy: bool) -> ()

    # Removes a client: what was decided about it, its services, its regions and its undelivered fixes. The service
    # closes its connections. A program that connects under that name again is a new, undecided client.
    method ForgetClient(user: int, name: string) -> ()

    # Call Drain and ReadBacklog with upgrade.
    error ExpectedUpgrade ()

    # Call Connect first.
    error NotConnected ()

    # The connection has a session.
    error AlreadyConnected ()

    # There is no such session, or it is another user's.
    error UnknownSession (session: int)

    # The client may not use location.
    error NotAuthorized ()

    # The limit for one user, or for all users together, is reached.
    error LimitExceeded (what: string, limit: int)

    # No such client is known.
    error UnknownClient (user: int, name: string)

    # An acknowledgement names a fix that never was. The fixes of this run have that generation and the sequence
    # numbers from first_sequence up to, but not including, next_sequence: none yet where both are the same.
    error UnknownFix (generation: int, first_sequence: int, next_sequence: int)

    # A command cannot decide about that client: the rule at that line of clients.toml does. Without line there
    # is no such file, and root and the service's own user may always.
    error DecidedByFile (line: ?int)

    # The board has nothing to tell it from.
    error NotAvailable (what: string)

    """
}

extension LocationInterface {
  /// The first half: what is told.
  static let types = """
    # Location for programs on a board that sleeps: Core Location's services over a socket.
    #
    # A program opens two connections. On the first it calls Connect, which gives a session, and then
    # whatever it likes; its end is the end of the program. On the second it calls Watch with that session
    # and gets every notice. Fixes are named by generation and sequence; what Acknowledge does not name is
    # delivered again to the next session of the same client, under the same name.
    #
    # Times are integers of microseconds: boot_us on the board's boot clock (CLOCK_BOOTTIME), utc_us since
    # 1970-01-01T00:00:00Z, left out while it is not known. What is unlimited, unknown or unchanged is left
    # out. Error codes are Core Location's numbers (CLError).
    interface org.torpor.Location

    # A moment. Only moments of one boot of the board compare by boot_us.
    type Moment (
      boot_us: int,
      utc_us: ?int
    )

    # How a position was made.
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
    # A client of reduced accuracy gets a place within about 5 km and neither altitude, speed nor course.
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

    # Fixes that the client will not get: count of them, with sequences from first to before next, and
    # none of them older than from or newer than to. may_be_more: an unknown number more, which a power cut
    # took, or which were not recorded between from and to because a suspended client's queue was full.
    type Gap (
      count: int,
      first: int,
      next: int,
      from: ?Moment,
      to: ?Moment,
      may_be_more: ?bool
    )

    # The end of a deferral; without a code, a criterion was met.
    type Finished (
      code: ?int
    )

    # Something went wrong: 0 no location now, the service keeps trying; 1 denied.
    type Failure (
      code: int
    )

    # A stay at one place. Without arrival, monitoring began during it; without departure, it lasts.
    # number: what AcknowledgeEvents names, here and in RegionEvent.
    type Visit (
      number: ?int,
      latitude_deg: float,
      longitude_deg: float,
      horizontal_accuracy_m: float,
      arrival: ?Moment,
      departure: ?Moment
    )

    # A region of a location manager, or a condition of a monitor: each has names of its own.
    type RegionKind (
      region,
      condition
    )

    # Of a region.
    type RegionState (
      unknown,
      inside,
      outside
    )

    # Of a condition.
    type MonitorState (
      unknown,
      satisfied,
      unsatisfied,
      unmonitored
    )

    # What there is to tell of a region or condition. entered, exited: at. determined: state.
    # monitor: monitor_state, at, and problem when it is not monitored. failed: code.
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

    # A circle that is monitored. state: what is known of it now. last_event: the last that was acknowledged
    # since it was added; left out where there was none.
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

    # Why live updates bring no location, or a coarse one.
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

    # An element of the live updates of the iterator with that number. dropped: fixes before it that came
    # too fast to be told.
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

    # What the client may from now on.
    type AuthorizationChange (
      authorization: Authorization,
      reduced_accuracy: bool
    )

    # What a low battery takes back, in the order of the board's profile.
    type Promise (
      every_fix,
      accuracy,
      updates,
      visits,
      regions,
      significant
    )

    # Why a service session, by its number, does not give what it asks for; the first comes at once, then one
    # with each change.
    type SessionDiagnostics (
      number: int,
      flags: []LiveFlag,
      full_accuracy_denied: ?bool,
      always_authorization_denied: ?bool
    )

    # What a client is told: exactly one of these.
    # fixes: a batch, oldest first; a long one comes in several notices, one after the other. With reduced
    # accuracy it is one coarse fix.
    # report: one fix that is no part of the running updates: of significant change, or of a request.
    # degraded: all that the client uses and does not get; empty when all is as it was.
    # paused, resumed and taken_over are true where they are there. After taken_over, another connection
    # speaks for this client and nothing more is told.
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

    # In what state a client's process is. A suspended process gets no notices until it runs again; the service
    # records its fixes until its queue is full.
    type ExecutionState (
      foreground,
      background,
      suspended
    )

    # What the wearer is about; it decides when updates pause.
    type Activity (
      other,
      automotive_navigation,
      fitness,
      other_navigation,
      airborne
    )

    # How deeply the board sleeps.
    type BoardState (
      awake,
      idle,
      suspended,
      off
    )

    # What the receiver does. acquiring: it runs without a fix. on: it runs; a caller whose user may not use
    # location gets no more detail. lost: it does not answer its driver. streaming: it does not answer and sends
    # fixes, which are delivered; it can neither sleep nor batch. answers: it sends what it should. since: when
    # that began. heard: when the last byte came. fixed: when its newest fix was made, delivered or not; left out
    # before the first fix, and for a caller whose user may not use location. remedy: for people, why the receiver
    # does not answer and what to do.
    type Receiver (
      state: (off, backup, standby, starting, acquiring, tracking, powersave, batching, on, lost,
        streaming),
      answers: bool,
      since: Moment,
      heard: ?Moment,
      fixed: ?Moment,
      remedy: ?string
    )

    # What a client may have started.
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

    # A client that keeps board or receiver from resting, or will. keeps_receiver: it is on all the time for
    # it. keeps_board: the board is awake for it all the time, or for each fix. next: when the next single fix
    # must be there, or deferred ones are looked at. Without execution, no process of it is connected.
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

    # One thing that keeps the board from sleeping as deeply as it could. inhibited: it is kept awake for now.
    # acknowledgement: a client was told something and has not acknowledged it. every_fix: a client wants each fix
    # as it is made. receiver_runs: it is to tell what it finds, which wakes no suspended board. receiver_cannot_rest: so
    # it is though nobody needs it. receiver_busy: something is on its way to or from it. receiver_cannot_wake: it
    # gathers fixes, and its pin does not wake a suspended board. no_suspend: the profile has no suspended state.
    # soon: something is due too soon. system: the kernel, a right or a program's lock is against it, by detail.
    # stays_on: the board could be off. user and name: the client, as far as whoever asks may know.
    type Hold (
      reason: (inhibited, acknowledgement, every_fix, receiver_runs, receiver_cannot_rest, receiver_busy, receiver_cannot_wake, no_suspend, soon, system, stays_on),
      user: ?int,
      name: ?string,
      detail: ?string
    )

    # How the service is. ring_fixes: slots of the ring that are in use, of ring_capacity. newest: when the newest fix
    # was true. sleep_inhibited: something keeps the board from sleeping. holds: all that does. demanding: the number of
    # clients that need something, connected or not. uses: what they need; an administrator gets all of them, other
    # callers those of their own user. For a caller whose user may not use location the service leaves out UTC, ring_fixes,
    # newest, next_sequence and plan, counts only that user's clients, and lists only the holds no_suspend, system and
    # stays_on.
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

    # What the hardware is to do until something happens. watermark: how many fixes gather in the
    # receiver's own buffer before it is drained. wake: the alarm. listens: the receiver's bytes wake too.
    type PowerPlan (
      receiver: (off, standby, tracking, powersave, batching),
      watermark: ?int,
      board: BoardState,
      wake: ?Moment,
      listens: bool
    )

    # Where time and energy went: seconds by state, and millijoules reckoned from them with the power that
    # the board's profile gives for each state. Nothing of it is measured. board_mj is the board without its
    # receiver: awake while the service itself computes, suspended while the kernel's clocks say so, else idle.
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

    # A client as an administrator sees it: a user id and the name by which that user's programs are told
    # apart. Without execution, no process of it is connected.
    # background_session: one is active, or waits for the next process. asks: what it has asked for, by
    # RequestAuthorization or by using what needs it (live updates, a condition, a service session or a background
    # session), while it is undecided.
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
