import TestSupport
import Testing

@testable import ServiceState

@Suite("Snapshot of the state database's schema")
struct SchemaSnapshotTests {
  @Test("the steps of the schema and the application id equal the snapshot") func schema() {
    let text =
      "application_id \(StateSchema.applicationID)\n"
      + StateSchema.current.steps.joined(separator: "\n\n") + "\n"
    #expect(differenceFromSnapshot("state.sql", text) == nil)
  }
}
