import LocationTypes

extension JSONOutput {
  /// Appends two members of a point's feature, its type and geometry (RFC 7946, sections 3.1.2 and 3.2): longitude
  /// precedes latitude, and the third number is the height above the ellipsoid. The caller appends `properties`.
  ///
  /// - Parameter height_mm: Height above the ellipsoid, millimetres; nil if it is not to be written.
  public mutating func addPointFeatureMembers(at coordinate: Coordinate, height_mm: Int32? = nil) {
    member("type", word: "Feature")
    object("geometry") { json in
      json.member("type", word: "Point")
      json.list("coordinates") { json in
        json.element(coordinate.longitude_e9, scale: 9)
        json.element(coordinate.latitude_e9, scale: 9)
        if let height_mm { json.element(Int64(height_mm), scale: 3) }
      }
    }
  }
}
