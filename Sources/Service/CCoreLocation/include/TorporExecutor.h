#ifndef TORPOR_EXECUTOR_H
#define TORPOR_EXECUTOR_H

#include <stdbool.h>

/// Whether asynchronous code runs on the threads of this module.
typedef enum __attribute__((enum_extensibility(closed))) {
  /// The hooks are set.
  torporExecutorInstalled = 0,
  /// `TORPOR_SWIFT_EXECUTOR` is `default`.
  torporExecutorDeclined = 1,
  /// Another library had set a hook.
  torporExecutorOccupied = 2,
  /// The Swift runtime lacks a hook.
  torporExecutorUnavailable = 3,
} TorporExecutorState;

/// Whether the hooks are set. A caller also makes the linker keep the constructor that sets them.
TorporExecutorState torpor_executor_state(void);

/// Whether the calling thread belongs to the pool, so that no run loop runs on it.
bool torpor_is_pool_thread(void);

/// Sets the name of the calling thread, at most 15 bytes, for tools that list threads.
void torpor_name_thread(const char *name);

#endif
