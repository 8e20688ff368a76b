public enum WireInterface {
  public static func description(of name: String) -> String? { nil }
}
