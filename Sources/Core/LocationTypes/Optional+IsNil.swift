extension Optional {
  /// Whether the optional stores no value.
  ///
  /// `== nil` calls the comparison of `Equatable` wrapped types. For a large type, the compiler does not reduce that
  /// comparison to a check of the tag: it copies the value and compares its properties.
  @inlinable @inline(__always) package var isNil: Bool {
    switch self {
    case .none: true
    case .some: false
    }
  }
}
