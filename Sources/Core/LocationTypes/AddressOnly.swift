/// Makes a type that stores it address-only: the compiler passes the type by reference and never copies it.
@_rawLayout(size: 1, alignment: 1)
public struct AddressOnly: ~Copyable, @unchecked Sendable {
  /// Creates the marker.
  public init() {}
}
