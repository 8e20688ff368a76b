// swift-format-ignore-file
// Written by `make methods` from the interface descriptions.

import LocationWire

extension LocationServer {
  /// Calls the handler of a method, a function with the name of the call. Returns the answer; nil if there is none.
  mutating func dispatch(_ call: WireCall, from index: Int) -> PendingAnswer.Answer? {
    switch call {
    case .getInfo: return getInfo(index)
    case .getInterfaceDescription(let interface): return getInterfaceDescription(index, interface)
    case .connect(let name, let needsExplicitSessions): return connect(index, name: name, needsExplicitSessions: needsExplicitSessions)
    case .watch(let session): return watch(index, session: session)
    case .startUpdating: return perform(call, from: index) { $0.startUpdating($1) }
    case .stopUpdating: return perform(call, from: index) { $0.stopUpdating($1) }
    case .configure(let settings): return perform(call, from: index) { $0.configure($1, settings) }
    case .allowDeferred(let distance, let timeout, let slack): return perform(call, from: index) { $0.allowDeferred($1, distance: distance, timeout: timeout, slack: slack) }
    case .disallowDeferred: return perform(call, from: index) { $0.disallowDeferred($1) }
    case .beginHold(let seconds, let reason): return perform(call, from: index) { $0.beginHold($1, seconds: seconds, reason: reason) }
    case .endHold(let id): return perform(call, from: index) { $0.endHold($1, id) }
    case .setExecution(let state): return perform(call, from: index) { $0.setExecution($1, state) }
    case .acknowledge(let fix): return perform(call, from: index) { $0.acknowledge($1, fix) }
    case .acknowledgeEvents(let number): return perform(call, from: index) { $0.acknowledgeEvents($1, number) }
    case .requestLocation: return perform(call, from: index) { $0.requestLocation($1) }
    case .startSignificantChange: return perform(call, from: index) { $0.startSignificantChange($1) }
    case .stopSignificantChange: return perform(call, from: index) { $0.stopSignificantChange($1) }
    case .startVisits: return perform(call, from: index) { $0.startVisits($1) }
    case .stopVisits: return perform(call, from: index) { $0.stopVisits($1) }
    case .addRegion(let region, let assuming): return perform(call, from: index) { $0.addRegion($1, region, assuming: assuming) }
    case .removeRegion(let kind, let name): return perform(call, from: index) { $0.removeRegion($1, kind, name: name) }
    case .requestRegionState(let kind, let name): return perform(call, from: index) { $0.requestRegionState($1, kind, name: name) }
    case .listRegions: return queryClient(from: index) { $0.listRegions($1, $2) }
    case .openLive(let configuration): return perform(call, from: index) { $0.openLive($1, configuration) }
    case .closeLive(let number): return perform(call, from: index) { $0.closeLive($1, number) }
    case .requestAuthorization(let authorization): return perform(call, from: index) { $0.requestAuthorization($1, authorization) }
    case .openServiceSession(let authorization, let requiresFullAccuracy): return perform(call, from: index) { $0.openServiceSession($1, authorization, requiresFullAccuracy: requiresFullAccuracy) }
    case .closeServiceSession(let number): return perform(call, from: index) { $0.closeServiceSession($1, number) }
    case .openBackgroundSession: return perform(call, from: index) { $0.openBackgroundSession($1) }
    case .closeBackgroundSession: return perform(call, from: index) { $0.closeBackgroundSession($1) }
    case .getLocation: return queryClient(from: index) { $0.getLocation($1, $2) }
    case .getStatus: return query { $0.getStatus(index, $1, $2) }
    case .getPowerPlan: return query { $0.getPowerPlan(index, $1, $2) }
    case .getEnergy: return query { $0.getEnergy(index, $1, $2) }
    case .getMetrics: return query { $0.getMetrics(index, $1, $2) }
    case .drain(let session): return query { $0.drain(index, $1, $2, session: session) }
    case .readBacklog(let name): return query { $0.readBacklog(index, $1, $2, name: name) }
    case .flush: return administer(call, from: index) { $0.flush() }
    case .listClients: return administer(call, from: index) { $0.listClients() }
    case .allowClient(let client, let authorization): return administer(call, from: index) { $0.allowClient(client, authorization) }
    case .denyClient(let client): return administer(call, from: index) { $0.denyClient(client) }
    case .reduceClient(let client, let isReduced): return administer(call, from: index) { $0.reduceClient(client, isReduced: isReduced) }
    case .forgetClient(let client): return administer(call, from: index) { $0.forgetClient(client) }
    }
  }
}
