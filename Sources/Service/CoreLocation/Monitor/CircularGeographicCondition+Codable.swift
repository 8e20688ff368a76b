import Foundation

// A coordinate is not `Codable`, because programs declare that themselves: its values are coded one by one.
extension CLMonitor.CircularGeographicCondition {
  private enum CodingKeys: CodingKey {
    case latitude, longitude, radius
  }

  /// Decodes a condition.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      center: CLLocationCoordinate2D(
        latitude: try values.decode(CLLocationDegrees.self, forKey: .latitude),
        longitude: try values.decode(CLLocationDegrees.self, forKey: .longitude)),
      radius: try values.decode(CLLocationDistance.self, forKey: .radius))
  }

  /// Encodes the condition.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(center.latitude, forKey: .latitude)
    try values.encode(center.longitude, forKey: .longitude)
    try values.encode(radius, forKey: .radius)
  }
}
