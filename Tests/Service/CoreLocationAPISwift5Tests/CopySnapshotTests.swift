import Foundation
import TestSupport
import Testing

@Suite("The API tests in Swift 5 mode")
struct CopySnapshotTests {
  static let original = "Tests/Service/CoreLocationAPITests"
  static let copies = "Tests/Service/CoreLocationAPISwift5Tests"

  /// The files of a folder.
  static func files(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(packageRoot)/\(folder)").sorted()
  }

  @Test("every file is a copy of the one that is compiled in Swift 6 mode")
  func copies() throws {
    let names = try Self.files(Self.original)
    #expect(names.count > 3)
    for name in names {
      let difference = difference(
        ofCopy: "\(Self.copies)/\(name)", from: "\(Self.original)/\(name)")
      #expect(difference == nil)
    }
    #expect(try Set(Self.files(Self.copies)) == Set(names + ["CopySnapshotTests.swift"]))
  }
}
