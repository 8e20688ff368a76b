/// Calls `body`: what `autoreleasepool` of Apple's Objective-C module does where there are no autoreleased objects.
///
/// Foundation on Linux lacks the function, and packages for iOS and macOS call it. A function of that name in a package
/// is preferred to this one.
///
/// - Returns: The result of `body`.
/// - Throws: The error of `body`.
@_alwaysEmitIntoClient @_disfavoredOverload
public func autoreleasepool<Failure: Error, Result: ~Copyable>(
  invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try body()
}
