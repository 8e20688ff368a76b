#ifndef TORPOR_C_MALLOC_COUNT_H
#define TORPOR_C_MALLOC_COUNT_H

#include <stdint.h>

/// Number of heap allocations and reallocations in this process since its start. It is exact, because the program
/// defines every allocation function of the C library.
uint64_t heap_allocations_now(void);

#endif
