// swift-format-ignore-file
// Written by `make methods` from the interface descriptions.

import LocationWire

extension LocationServer {
  /// Calls the handler of a method, a function with the name of the call. Returns the answer; nil if there is none.
  mutating func dispatch(_ call: WireCall, from index: Int) -> PendingAnswer.Answer? {
    switch call {
    case .getInfo: getInfo(index)
    case .getInterfaceDescription(let interface): getInterfaceDescription(index, interface)
    case .connect(let name, let needsExplicitSessions): connect(index, name: name, needsExplicitSessions: needsExplicitSessions)
    case .watch(let session): watch(index, session: session)
    case .startUpdating: perform(call, from: index) { $0.startUpdating($1) }
    case .stopUpdating: perform(call, from: index) { $0.stopUpdating($1) }
    case .configure(let settings): perform(call, from: index) { $0.configure($1, settings) }
    case .allowDeferred(let distance, let timeout): perform(call, from: index) { $0.allowDeferred($1, distance: distance, timeout: timeout) }
    case .disallowDeferred: perform(call, from: index) { $0.disallowDeferred($1) }
    case .setExecution(let state): perform(call, from: index) { $0.setExecution($1, state) }
    case .acknowledge(let fix): perform(call, from: index) { $0.acknowledge($1, fix) }
    case .acknowledgeEvents(let number): perform(call, from: index) { $0.acknowledgeEvents($1, number) }
    case .requestLocation: perform(call, from: index) { $0.requestLocation($1) }
    case .startSignificantChange: perform(call, from: index) { $0.startSignificantChange($1) }
    case .stopSignificantChange: perform(call, from: index) { $0.stopSignificantChange($1) }
    case .startVisits: perform(call, from: index) { $0.startVisits($1) }
    case .stopVisits: perform(call, from: index) { $0.stopVisits($1) }
    case .addRegion(let region, let assuming): perform(call, from: index) { $0.addRegion($1, region, assuming: assuming) }
    case .removeRegion(let kind, let name): perform(call, from: index) { $0.removeRegion($1, kind, name: name) }
    case .requestRegionState(let kind, let name): perform(call, from: index) { $0.requestRegionState($1, kind, name: name) }
    case .listRegions: queryClient(from: index) { $0.listRegions($1, $2) }
    case .openLive(let configuration): perform(call, from: index) { $0.openLive($1, configuration) }
    case .closeLive(let number): perform(call, from: index) { $0.closeLive($1, number) }
    case .requestAuthorization(let authorization): perform(call, from: index) { $0.requestAuthorization($1, authorization) }
    case .openServiceSession(let authorization, let requiresFullAccuracy): perform(call, from: index) { $0.openServiceSession($1, authorization, requiresFullAccuracy: requiresFullAccuracy) }
    case .closeServiceSession(let number): perform(call, from: index) { $0.closeServiceSession($1, number) }
    case .openBackgroundSession: perform(call, from: index) { $0.openBackgroundSession($1) }
    case .closeBackgroundSession: perform(call, from: index) { $0.closeBackgroundSession($1) }
    case .getLocation: queryClient(from: index) { $0.getLocation($1, $2) }
    case .getStatus: query { $0.getStatus(index, $1, $2) }
    case .getPowerPlan: query { $0.getPowerPlan(index, $1, $2) }
    case .getEnergy: query { $0.getEnergy(index, $1, $2) }
    case .drain(let session): query { $0.drain(index, $1, $2, session: session) }
    case .readBacklog(let name): query { $0.readBacklog(index, $1, $2, name: name) }
    case .flush: administer(call, from: index) { $0.flush() }
    case .listClients: administer(call, from: index) { $0.listClients() }
    case .allowClient(let client, let authorization): administer(call, from: index) { $0.allowClient(client, authorization) }
    case .denyClient(let client): administer(call, from: index) { $0.denyClient(client) }
    case .reduceClient(let client, let isReduced): administer(call, from: index) { $0.reduceClient(client, isReduced: isReduced) }
    case .forgetClient(let client): administer(call, from: index) { $0.forgetClient(client) }
    }
  }
}
