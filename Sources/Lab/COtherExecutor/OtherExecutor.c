// Sets the hook before CCoreLocation does, as the executor of another library may, for tests that the module respects it.

#include "COtherExecutor.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#define SWIFTCALL __attribute__((swiftcall))

// The runtime's interface (swift/Runtime/Concurrency.h of Swift 6.3); `Job` is opaque here.
typedef SWIFTCALL void (*EnqueueOriginal)(void *job);
typedef SWIFTCALL void (*EnqueueHook)(void *job, EnqueueOriginal);

extern __attribute__((weak)) EnqueueHook swift_task_enqueueGlobal_hook;

static atomic_long jobs;

static SWIFTCALL void forward(void *job, EnqueueOriginal original) {
  atomic_fetch_add(&jobs, 1);
  original(job);
}

// Priority 101 is the first one of a program's own constructors; those without a priority run after it.
__attribute__((constructor(101))) static void installHook(void) {
  if (getenv("PROBE_EXECUTOR") && &swift_task_enqueueGlobal_hook) swift_task_enqueueGlobal_hook = forward;
}

long other_executor_jobs(void) { return atomic_load(&jobs); }
