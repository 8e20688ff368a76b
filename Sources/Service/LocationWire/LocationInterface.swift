/// The interfaces of the service, as `GetInterfaceDescription` tells them.
public enum LocationInterface {
  /// `org.torpor.Location`; the same as Docs/Reference/org.torpor.Location.varlink.
  public static let text = types + "\n" + methods

  /// `org.varlink.service`, which every Varlink service has.
  public static let service = """
    # What every Varlink service tells of itself.
    interface org.varlink.service

    # Who made it, what it is, and which interfaces it has.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # The text of an interface.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # There is no such interface.
    error InterfaceNotFound (interface: string)

    # The interface has no such method.
    error MethodNotFound (method: string)

    # The interface has the method, and this service does not.
    error MethodNotImplemented (method: string)

    # That parameter is missing, unknown, of a wrong type or out of range.
    error InvalidParameter (parameter: string)

    # The caller may not.
    error PermissionDenied ()

    # The method is to be called with more.
    error ExpectedMore ()

    """

  /// The text of the interface of that name; nil if this service has none.
  public static func text(of name: String) -> String? {
    switch name {
    case CallDecoder.interface: text
    case CallDecoder.service: service
    default: nil
    }
  }
}
