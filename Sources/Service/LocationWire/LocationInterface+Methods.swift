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
