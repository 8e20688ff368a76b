/// The Varlink interface descriptions of the service, as `GetInterfaceDescription` returns them.
public enum LocationInterface {
  /// Description of `org.torpor.Location`.
  public static let text = description(PackageResources.org_torpor_Location_varlink)

  /// Description of `org.varlink.service`, which every Varlink service implements.
  public static let service = description(PackageResources.org_varlink_service_varlink)

  /// Description of the interface with this name; nil if the service does not implement it.
  public static func text(of name: String) -> String? {
    switch name {
    case CallDecoder.interface: text
    case CallDecoder.service: service
    default: nil
    }
  }

  /// The file without the annotations for the generator of ``WireCall``.
  private static func description(_ file: [UInt8]) -> String {
    String(decoding: file, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("#@") }.joined(separator: "\n")
  }
}
