#ifndef TORPOR_C_BENCH_STOPWATCH_H
#define TORPOR_C_BENCH_STOPWATCH_H

#include <stdint.h>

/// Time of the monotonic clock in nanoseconds.
uint64_t bench_now_ns(void);

/// Number of instructions that this program executes under callgrind with `--turns turns --only name`.
/// Negative if valgrind is not installed or its output cannot be parsed.
int64_t bench_instructions(const char *name, uint64_t turns);

#endif
