#ifndef TORPOR_C_MALLOC_COUNT_H
#define TORPOR_C_MALLOC_COUNT_H

#include <stdint.h>

/// What the heap was asked for since the program began, by anyone in the process.
///
/// A reallocation counts as one; freeing nothing counts as none.
struct heap_counts {
  uint64_t allocations;
  uint64_t reallocations;
  uint64_t frees;
};

/// The counts so far. Exact: every allocating function of the C library is in this program's own hands.
struct heap_counts heap_counts_now(void);

#endif
