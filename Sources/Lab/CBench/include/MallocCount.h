#ifndef TORPOR_C_MALLOC_COUNT_H
#define TORPOR_C_MALLOC_COUNT_H

#include <stdint.h>

/// Number of heap operations in this process since its start.
///
/// A reallocation counts once; `free(NULL)` does not count.
struct heap_counts {
  uint64_t allocations;
  uint64_t reallocations;
  uint64_t frees;
};

/// The counts so far. They are exact, because the program defines every allocation function of the C library.
struct heap_counts heap_counts_now(void);

#endif
