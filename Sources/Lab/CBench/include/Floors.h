#ifndef TORPOR_C_BENCH_FLOOR_H
#define TORPOR_C_BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

// The floors: the least that each job can need, in plain C. Our own code is told as a ratio to them.

/// Checks the checksum of `sentences` NMEA sentences and finds their fields, going round `stream` as
/// often as it takes. `position` is where it stands in the stream.
/// Returns a number that depends on every field, so that nothing can be left out.
uint64_t floor_nmea(const uint8_t *stream, size_t length, size_t *position, uint64_t sentences);

/// Checks the checksum of `frames` UBX frames and copies each payload, going round `stream`.
uint64_t floor_ubx(const uint8_t *stream, size_t length, size_t *position, uint64_t frames);

/// Copies `slots` records of 64 bytes into a ring of `capacity` of them, each with its CRC-32C.
uint64_t floor_slots(uint8_t *ring, size_t capacity, uint64_t *sequence, uint64_t slots);

/// Copies `texts` times the `length` bytes of `text` behind each other into `output`, whose `room` is at
/// least as long and is begun anew when it is full, each with another first byte.
uint64_t floor_copies(uint8_t *output, size_t room, const uint8_t *text, size_t length, uint64_t texts);

/// Takes `distances` distances on a sphere by the haversine formula, going round `pairs` of places in
/// `radians`, four numbers each. Returns a number that depends on each.
uint64_t floor_haversine(const double *radians, size_t pairs, size_t *position, uint64_t distances);

// The stopwatch.

/// Nanoseconds of a clock that only goes forward.
uint64_t bench_now_ns(void);

/// Instructions that this program executes under callgrind with `--turns turns --only name`.
/// Negative if valgrind is not there or its answer cannot be read.
int64_t bench_instructions(const char *name, uint64_t turns);

#endif
