// Core Location imports Foundation for its users: programs that import only CoreLocation use `Date` and `NSObject`, and
// what Foundation on Linux lacks.
@_exported import Foundation
@_exported import FoundationCompatibility
