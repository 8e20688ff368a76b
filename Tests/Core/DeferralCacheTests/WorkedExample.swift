/// The example slot of ring-format.md.
enum WorkedExample {
  static let lines = [
    "01 25 11 0E 0D 0C 0B 0A 04 03 02 01 43 2D 01 00",
    "90 10 24 46 48 47 06 14 1A 99 BE 1C 00 00 90 01",
    "44 C1 36 3A 0C 42 36 00 5C 6F A0 E2 FC D8 EF 2F",
    "C4 09 00 FF FF FF E2 04 24 FA FF FF 3C 00 07 29",
  ]
}
