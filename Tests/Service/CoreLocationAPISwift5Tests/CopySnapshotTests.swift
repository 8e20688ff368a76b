import TestSupport
import Testing

@Suite("The API tests in Swift 5 mode")
struct CopySnapshotTests {
  @Test(
    "every file is a copy of the one that is compiled in Swift 6 mode",
    arguments: ["ValueUses", "ManagerUses"])
  func copies(_ name: String) {
    let difference = difference(
      ofCopy: "Tests/Service/CoreLocationAPISwift5Tests/\(name).swift",
      from: "Tests/Service/CoreLocationAPITests/\(name).swift")
    #expect(difference == nil)
  }
}
