import BoardProfiles
import Testing

@Test("every board loads") func boards() throws {
  let catalog = try BoardCatalog.standard()
  #expect(catalog.list() == ["simulated", "zero2w-max-m10s"])
  for name in catalog.list() { _ = try catalog.find(name) }
}
