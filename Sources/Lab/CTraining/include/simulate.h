/* A track at intervals of one second, the conditions of a run, and its outcome. */
#ifndef TRAINING_SIMULATE_H
#define TRAINING_SIMULATE_H

#include <stdint.h>

#include "planner.h"

typedef struct {
  int seconds;
  const double *east, *north, *speed;
  const uint8_t *is_known;  /* 0 within a gap of the recording: not evaluated */
  const uint8_t *is_moving; /* the motion line */
} Track;

typedef struct {
  double bound;
  int has_line;
  /* Error of a fix: Gauss-Markov on each axis, metres and seconds; of the speed, m/s. */
  double noise, noise_time, speed_noise;
  double accuracy; /* reported with each fix */
  uint64_t seed;
  double exploration; /* share of decisions that are changed at random */
  int start;          /* first second of the run on the track */
  int most_fixes;     /* 0: to the end of the track */
} Conditions;

typedef struct {
  double energy, seconds, outside, checked;
  int fixes;
} Outcome;

/* One row per decision: the features; for each bin the share of time outside, and the known share
   of the bin (0 to 1). */
typedef struct {
  float *features, *labels, *weights;
  int capacity, count;
} Samples;

void simulate(const Track *track, const Profile *profile, const Tuning *tuning,
              const Conditions *conditions, Outcome *outcome, Samples *samples);

/* Energy of the optimal schedule with knowledge of the whole track, mJ: Optimum of LocationSimulation. */
double optimum(const Track *track, const Profile *profile, double bound);

#endif
