// Core Location imports Foundation for its users: programs that import only CoreLocation use `Date` and `NSObject`.
@_exported import Foundation
