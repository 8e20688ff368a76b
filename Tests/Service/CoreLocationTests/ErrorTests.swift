import Foundation
import LocationTypes
import Testing

@testable import CoreLocation

@Suite("CLError")
struct ErrorTests {
  @Test("an error is a CLError with Apple's domain and code, however it is asked")
  func forms() throws {
    let error: any Error = CLError(.denied)
    #expect((error as? CLError)?.code == .denied)
    #expect((error as? CLError)?.errorCode == 1)
    #expect(CLError.errorDomain == "kCLErrorDomain")
    let object = error as NSError
    #expect(object.domain == kCLErrorDomain && object.code == 1)
    #expect(object.code == CLError.denied.rawValue)
    #expect(error.code == .denied)
  }

  @Test("a catch clause selects a code")
  func patterns() {
    do {
      throw CLError(.network)
    } catch CLError.denied {
      Issue.record("another code was selected")
    } catch CLError.network {
    } catch {
      Issue.record("no code was selected")
    }
    let error: any Error = CLError(.deferredFailed)
    switch error {
    case CLError.deferredFailed: break
    default: Issue.record("the code was not selected")
    }
  }

  @Test("the user info has the region that can be monitored instead")
  func userInfo() {
    let region = CLCircularRegion(
      center: CLLocationCoordinate2D(), radius: 200, identifier: "home")
    let error = CLError(
      .regionMonitoringResponseDelayed, userInfo: [kCLErrorUserInfoAlternateRegionKey: region])
    #expect(error.alternateRegion === region)
    #expect(CLError(.denied).alternateRegion == nil)
  }

  @Test("errors with the same code are equal")
  func equality() {
    #expect(CLError(.denied) == CLError(.denied))
    #expect(CLError(.denied) != CLError(.network))
    #expect(CLError(.denied).hashValue == CLError(.denied).hashValue)
    #expect(Set([CLError(.denied), CLError(.network), CLError(.denied)]).count == 2)
  }

  @Test("an error describes itself, also as any error and as an NSError, and keeps its own text")
  func descriptions() {
    let error: any Error = CLError(LocationErrorCode.denied)
    #expect(error.localizedDescription == "this program may not use location")
    #expect((error as NSError).localizedDescription == "this program may not use location")
    #expect(error as? CLError == CLError(.denied), "a program compares with its own error")
    let texts = (0..<20).compactMap { CLError.Code(rawValue: $0)?.text }
    #expect(Set(texts).count == 20)
    let own = NSError(
      domain: kCLErrorDomain, code: 1, userInfo: [NSLocalizedDescriptionKey: "own text"])
    #expect(CLError(_nsError: own).localizedDescription == "own text")
    let unknown = NSError(domain: kCLErrorDomain, code: 99)
    #expect(CLError(_nsError: unknown)._nsError === unknown)
  }

  @Test("codes have Apple's raw values")
  func rawValues() {
    let codes: [CLError.Code] = [
      .locationUnknown, .denied, .network, .headingFailure, .regionMonitoringDenied,
      .regionMonitoringFailure, .regionMonitoringSetupDelayed, .regionMonitoringResponseDelayed,
      .geocodeFoundNoResult, .geocodeFoundPartialResult, .geocodeCanceled, .deferredFailed,
      .deferredNotUpdatingLocation, .deferredAccuracyTooLow, .deferredDistanceFiltered,
      .deferredCanceled, .rangingUnavailable, .rangingFailure, .promptDeclined,
      .historicalLocationError,
    ]
    #expect(codes.map(\.rawValue) == Array(0...19))
  }
}
