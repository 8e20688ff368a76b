import GNSSProtocols

extension ReceiverFamily: CaseIterable {
  /// All families, in the order of messages and documentation.
  public static var allCases: [ReceiverFamily] {
    (UInt8.min...).lazy.map(ReceiverFamily.init).prefix { $0 != nil }.compactMap(\.self)
  }
}
