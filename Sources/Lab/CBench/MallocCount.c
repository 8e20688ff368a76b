// Counts calls of the C library's allocation functions. The program defines these functions, so the dynamic
// linker binds every caller to them: the Swift runtime, the C++ library and the C library itself.
#include "MallocCount.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

// glibc's internal names of the allocation functions.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *pointer);

static atomic_uint_fast64_t allocations;
static atomic_uint_fast64_t reallocations;
static atomic_uint_fast64_t frees;

static void count(atomic_uint_fast64_t *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

struct heap_counts heap_counts_now(void) {
  return (struct heap_counts){
      .allocations = atomic_load_explicit(&allocations, memory_order_relaxed),
      .reallocations = atomic_load_explicit(&reallocations, memory_order_relaxed),
      .frees = atomic_load_explicit(&frees, memory_order_relaxed),
  };
}

void *malloc(size_t size) {
  count(&allocations);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(&allocations);
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count(&reallocations);
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  count(&allocations);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(&allocations);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  count(&allocations);
  void *pointer = __libc_memalign(alignment, size);
  if (pointer == NULL) return ENOMEM;
  *out = pointer;
  return 0;
}

void free(void *pointer) {
  if (pointer == NULL) return;
  count(&frees);
  __libc_free(pointer);
}
