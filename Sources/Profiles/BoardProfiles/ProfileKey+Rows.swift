import LocationTypes

// How a row of the schema is tied to the field it fills.

typealias Field<Value> = WritableKeyPath<ProfileDraft, Value> & Sendable

extension ProfileKey {
  private init(
    _ table: String, _ name: String, _ form: ProfileForm, required: Bool, _ meaning: String,
    get: @escaping @Sendable (ProfileDraft) -> ProfileValue?,
    put: @escaping @Sendable (inout ProfileDraft, ProfileValue) -> Void
  ) {
    self.table = table
    self.name = name
    self.form = form
    isRequired = required
    self.meaning = meaning
    self.get = get
    self.put = put
  }

  static func text(
    _ table: String, _ name: String, _ field: Field<String>, _ length: ClosedRange<Int>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .text(length), required: true, meaning, get: { .text($0[keyPath: field]) },
      put: { if case .text(let text) = $1 { $0[keyPath: field] = text } })
  }

  static func text(
    _ table: String, _ name: String, optional field: Field<String?>, _ length: ClosedRange<Int>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .text(length), required: false, meaning,
      get: { $0[keyPath: field].map { .text($0) } },
      put: { if case .text(let text) = $1 { $0[keyPath: field] = text } })
  }

  static func word<Word: RawRepresentable<String> & CaseIterable & Sendable>(
    _ table: String, _ name: String, _ field: Field<Word>, required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .word(Word.allCases.map(\.rawValue)), required: required, meaning,
      get: { .text($0[keyPath: field].rawValue) },
      put: {
        if case .text(let text) = $1, let word = Word(rawValue: text) { $0[keyPath: field] = word }
      })
  }

  static func flag(
    _ table: String, _ name: String, _ field: Field<Bool>, required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .flag, required: required, meaning, get: { .flag($0[keyPath: field]) },
      put: { if case .flag(let flag) = $1 { $0[keyPath: field] = flag } })
  }

  static func whole(
    _ table: String, _ name: String, _ field: Field<Int>, _ range: ClosedRange<Int>,
    required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .whole(range), required: required, meaning, get: { .whole($0[keyPath: field]) },
      put: { if case .whole(let whole) = $1 { $0[keyPath: field] = whole } })
  }

  static func whole(
    _ table: String, _ name: String, optional field: Field<Int?>, _ range: ClosedRange<Int>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .whole(range), required: false, meaning,
      get: { $0[keyPath: field].map { .whole($0) } },
      put: { if case .whole(let whole) = $1 { $0[keyPath: field] = whole } })
  }

  static func speed(
    _ table: String, _ name: String, _ field: Field<Int>, _ meaning: String
  ) -> ProfileKey {
    let speeds = [4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]
    return ProfileKey(
      table, name, .oneOf(speeds), required: true, meaning, get: { .whole($0[keyPath: field]) },
      put: { if case .whole(let whole) = $1 { $0[keyPath: field] = whole } })
  }

  static func number(
    _ table: String, _ name: String, _ field: Field<Double>, _ range: ClosedRange<Double>,
    required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .number(range), required: required, meaning,
      get: { .number($0[keyPath: field]) },
      put: { if case .number(let number) = $1 { $0[keyPath: field] = number } })
  }

  static func number(
    _ table: String, _ name: String, optional field: Field<Double?>, _ range: ClosedRange<Double>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .number(range), required: false, meaning,
      get: { $0[keyPath: field].map { .number($0) } },
      put: { if case .number(let number) = $1 { $0[keyPath: field] = number } })
  }

  /// A time; the name ends in `_s`.
  static func seconds(
    _ table: String, _ name: String, _ field: Field<Interval>, _ range: ClosedRange<Double>,
    required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .number(range), required: required, meaning,
      get: { .number($0[keyPath: field].seconds) },
      put: { if case .number(let number) = $1 { $0[keyPath: field] = Interval(seconds: number) } })
  }

  /// A time in whole milliseconds; the name ends in `_ms`.
  static func milliseconds(
    _ table: String, _ name: String, _ field: Field<Interval>, _ range: ClosedRange<Int>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .whole(range), required: true, meaning,
      get: { .whole(Int($0[keyPath: field].microseconds / 1_000)) },
      put: {
        if case .whole(let whole) = $1 { $0[keyPath: field] = .milliseconds(Int64(whole)) }
      })
  }

  static func wakes(
    _ table: String, _ name: String, _ field: Field<BoardProfile.WakeSources>, _ meaning: String
  ) -> ProfileKey {
    let words: [(String, BoardProfile.WakeSources)] = [
      ("alarm", .alarm), ("bytes", .bytes), ("batch_pin", .batchPin),
      ("motion", .motion),
    ]
    return ProfileKey(
      table, name, .words(words.map(\.0)), required: true, meaning,
      get: { draft in
        .words(words.filter { draft[keyPath: field].contains($0.1) }.map(\.0))
      },
      put: { draft, value in
        guard case .words(let given) = value else { return }
        draft[keyPath: field] = BoardProfile.WakeSources(
          words.filter { given.contains($0.0) }.map(\.1))
      })
  }

  static func points(
    _ table: String, _ name: String, _ field: Field<[BoardProfile.TimeToFixPoint]>,
    _ range: ClosedRange<Double>, most: Int, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .points(range, most: most), required: true, meaning,
      get: { .points($0[keyPath: field]) },
      put: { if case .points(let points) = $1 { $0[keyPath: field] = points } })
  }
}
