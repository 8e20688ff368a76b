#ifndef TORPOR_C_BENCH_FLOOR_H
#define TORPOR_C_BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

// The floors: lower bounds of the time that each job needs, in plain C. Reports give Torpor's time as a ratio to them.

/// Checks the checksum of `sentences` NMEA sentences and finds their fields. Reads `stream` cyclically, starting at
/// `position`, and updates `position`.
/// Returns a number that depends on every field, so that the compiler can remove nothing.
uint64_t floor_nmea(const uint8_t *stream, size_t length, size_t *position, uint64_t sentences);

/// Checks the checksum of `frames` UBX frames and copies each payload; reads `stream` cyclically.
uint64_t floor_ubx(const uint8_t *stream, size_t length, size_t *position, uint64_t frames);

/// Copies `slots` records of 64 bytes into a ring of `capacity` slots, each with its CRC-32C.
uint64_t floor_slots(uint8_t *ring, size_t capacity, uint64_t *sequence, uint64_t slots);

/// Copies the `length` bytes of `text` `texts` times one after another into `output` of `capacity` bytes, with a
/// different first byte each time; starts again at the beginning when `output` is full. `capacity` must be at least
/// `length`.
uint64_t floor_copies(uint8_t *output, size_t capacity, const uint8_t *text, size_t length, uint64_t texts);

/// Computes `distances` distances on a sphere by the haversine formula, cyclically over `pairs` of coordinates in
/// `radians`, four numbers each. Returns a number that depends on each distance.
uint64_t floor_haversine(const double *radians, size_t pairs, size_t *position, uint64_t distances);

// Time and instruction counts.

/// Time of the monotonic clock in nanoseconds.
uint64_t bench_now_ns(void);

/// Number of instructions that this program executes under callgrind with `--turns turns --only name`.
/// Negative if valgrind is not installed or its output cannot be parsed.
int64_t bench_instructions(const char *name, uint64_t turns);

#endif
