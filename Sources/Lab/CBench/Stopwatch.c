#define _GNU_SOURCE
#include "Stopwatch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t bench_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t bench_instructions(const char *name, uint64_t turns) {
  // Pass the program's own path through the environment, which needs no shell quoting.
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return -1;
  self[length] = 0;
  char number[32];
  snprintf(number, sizeof number, "%" PRIu64, turns);
  setenv("BENCH_PROGRAM", self, 1);
  setenv("BENCH_ONLY", name, 1);
  setenv("BENCH_TURNS", number, 1);
  FILE *answer = popen(
      "valgrind --tool=callgrind --callgrind-out-file=/dev/null \"$BENCH_PROGRAM\" "
      "--only \"$BENCH_ONLY\" --turns \"$BENCH_TURNS\" 2>&1 >/dev/null </dev/null",
      "r");
  if (answer == NULL) return -1;
  int64_t collected = -1;
  char line[512];
  while (fgets(line, sizeof line, answer) != NULL) {
    const char *found = strstr(line, "Collected : ");
    if (found != NULL) collected = strtoll(found + strlen("Collected : "), NULL, 10);
  }
  return pclose(answer) == 0 ? collected : -1;
}
