// Runs Swift's asynchronous code without idle wakes.
//
// Problem: the threads on which Swift runs asynchronous code come from libdispatch. The first worker of a global queue
// that does not overcommit registers a monitor, which wakes the process once a second until it ends. The main actor's
// loop, dispatch_main(), runs no RunLoop, so Foundation's timers on the main thread never fire in an asynchronous
// program.
//
// Solution: two hooks that the runtime exports for this purpose.
// - swift_task_enqueueGlobal_hook sends jobs to a pool of up to eight threads, which sleep on a condition.
// - swift_task_asyncMainDrainQueue_hook runs CFRunLoopRun, which serves the main queue and the main run loop.
//
// A constructor sets them before main. It changes nothing if TORPOR_SWIFT_EXECUTOR is "default", if another library has
// set one of the hooks, or if the runtime lacks one. Task.sleep and DispatchQueue.global() still use libdispatch.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "TorporExecutor.h"

#define SWIFTCALL __attribute__((swiftcall))
#define WEAK __attribute__((weak))

// MARK: The runtime's interface (swift/ExecutorImpl.h and swift/Runtime/Concurrency.h of Swift 6.3)

/// A job; `schedulerPrivate` belongs to the executor while the job is enqueued.
typedef struct Job {
  const void *metadata;
  uintptr_t refCounts;
  struct Job *schedulerPrivate[2];
  uint32_t flags;
} Job;

typedef struct {
  void *identity;
  uintptr_t implementation;
} ExecutorRef;

typedef SWIFTCALL void (*EnqueueOriginal)(Job *);
typedef SWIFTCALL void (*EnqueueHook)(Job *, EnqueueOriginal);
typedef SWIFTCALL void (*DrainOriginal)(void);
typedef SWIFTCALL void (*DrainOverride)(DrainOriginal);
typedef SWIFTCALL void (*DrainHook)(DrainOriginal, DrainOverride);

extern WEAK EnqueueHook swift_task_enqueueGlobal_hook;
extern WEAK DrainHook swift_task_asyncMainDrainQueue_hook;
extern WEAK SWIFTCALL void swift_job_run(Job *, ExecutorRef);
extern WEAK void CFRunLoopRun(void);

// MARK: Pool

/// Number of priorities: one list of jobs for each.
enum { buckets = 5, mostThreads = 8 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t hasJobs;
  Job *first[buckets];
  Job *last[buckets];
  /// Jobs in the lists; threads that wait for jobs, also those that were signalled and do not run yet; all threads.
  int queued, idle, threads, limit;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .hasJobs = PTHREAD_COND_INITIALIZER};

static TorporExecutorState state = torporExecutorUnavailable;
static _Thread_local bool isPoolThread;

/// List for a job's priority; the first one is the most urgent.
static int bucketOf(const Job *job) {
  uint32_t priority = job->flags >> 8 & 0xFF;
  if (priority > 0x19) return 0;
  if (priority > 0x15) return 1;
  if (priority > 0x11) return 2;
  return priority > 0x09 ? 3 : 4;
}

/// Removes the most urgent job; NULL if there is none. Requires the lock.
static Job *takeJob(void) {
  for (int i = 0; i < buckets; i++) {
    Job *job = pool.first[i];
    if (!job) continue;
    pool.first[i] = job->schedulerPrivate[0];
    if (!pool.first[i]) pool.last[i] = NULL;
    pool.queued--;
    return job;
  }
  return NULL;
}

static void *work(void *unused) {
  (void)unused;
  isPoolThread = true;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    Job *job = takeJob();
    if (job) {
      pthread_mutex_unlock(&pool.lock);
      swift_job_run(job, (ExecutorRef){NULL, 0});
      pthread_mutex_lock(&pool.lock);
    } else {
      pool.idle++;
      pthread_cond_wait(&pool.hasJobs, &pool.lock);
      pool.idle--;
    }
  }
  return NULL;
}

static SWIFTCALL void enqueue(Job *job, EnqueueOriginal original) {
  job->schedulerPrivate[0] = NULL;
  pthread_mutex_lock(&pool.lock);
  // Each queued job takes one of the idle threads.
  if (pool.queued >= pool.idle && pool.threads < pool.limit) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, work, NULL) == 0) {
      pool.threads++;
      pthread_setname_np(thread, "swift-pool");
    }
    pthread_attr_destroy(&attributes);
  }
  if (pool.threads == 0) {
    // No thread can be created: let the runtime try.
    pthread_mutex_unlock(&pool.lock);
    original(job);
    return;
  }
  int bucket = bucketOf(job);
  if (pool.last[bucket]) {
    pool.last[bucket]->schedulerPrivate[0] = job;
  } else {
    pool.first[bucket] = job;
  }
  pool.last[bucket] = job;
  pool.queued++;
  pthread_cond_signal(&pool.hasJobs);
  pthread_mutex_unlock(&pool.lock);
}

static SWIFTCALL void drainMainQueue(DrainOriginal original, DrainOverride override) {
  (void)override;
  if (!CFRunLoopRun) original();
  // On the main thread the loop always has a source, the main queue, so it does not return by itself.
  for (;;) CFRunLoopRun();
}

// MARK: Constructor

__attribute__((constructor)) static void installHooks(void) {
  const char *choice = getenv("TORPOR_SWIFT_EXECUTOR");
  if (choice && strcmp(choice, "default") == 0) {
    state = torporExecutorDeclined;
    return;
  }
  if (!&swift_task_enqueueGlobal_hook || !&swift_task_asyncMainDrainQueue_hook || !swift_job_run) return;
  if (swift_task_enqueueGlobal_hook || swift_task_asyncMainDrainQueue_hook) {
    state = torporExecutorOccupied;
    return;
  }
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  pool.limit = processors < 2 ? 2 : processors > mostThreads ? mostThreads : (int)processors;
  swift_task_enqueueGlobal_hook = enqueue;
  swift_task_asyncMainDrainQueue_hook = drainMainQueue;
  state = torporExecutorInstalled;
}

TorporExecutorState torpor_executor_state(void) { return state; }

bool torpor_is_pool_thread(void) { return isPoolThread; }

void torpor_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
