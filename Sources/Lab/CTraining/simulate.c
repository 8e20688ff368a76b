/* A receiver on a track: the cost of the planner's decisions, the optimal schedule, and the labels for training the
   network. */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

static int search_seconds(const Profile *profile, int off) {
  return (int)ceil(acquisition_time(profile, off) - 1e-9);
}

static int is_outside(const Track *track, int second, double east, double north, double bound) {
  double x = track->east[second] - east, y = track->north[second] - north;
  return x * x + y * y > bound * bound;
}

/* Positions in a stretch of BLOCK seconds that starts at a multiple of it. */
enum { BLOCK = 64 };
typedef struct {
  double west, east, south, north; /* west > east: none is known */
} Box;

static Box box_of(const Track *track, int first) {
  Box box = {INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (int s = first; s < first + BLOCK && s < track->seconds; s++) {
    if (!track->is_known[s]) continue;
    box.west = fmin(box.west, track->east[s]);
    box.east = fmax(box.east, track->east[s]);
    box.south = fmin(box.south, track->north[s]);
    box.north = fmax(box.north, track->north[s]);
  }
  return box;
}

static int is_box_inside(const Box *box, double east, double north, double bound) {
  if (box->west > box->east) return 1;
  double x = fmax(east - box->west, box->east - east), y = fmax(north - box->south, box->north - north);
  return x * x + y * y <= bound * bound;
}

double optimum(const Track *track, const Profile *profile, double bound) {
  int n = track->seconds;
  int *departures = malloc(sizeof(int) * n);
  Box *boxes = malloc(sizeof(Box) * (n / BLOCK + 1));
  for (int block = 0; block * BLOCK < n; block++) boxes[block] = box_of(track, block * BLOCK);
  for (int t = 0; t < n; t++) {
    double east = track->east[t], north = track->north[t];
    int s = t + 1;
    while (s < n) {
      if (s % BLOCK == 0 && is_box_inside(&boxes[s / BLOCK], east, north, bound)) {
        s += BLOCK;
      } else if (track->is_known[s] && is_outside(track, s, east, north, bound)) {
        break;
      } else {
        s++;
      }
    }
    departures[t] = s < n ? s : n;
  }
  double energy = schedule_energy(profile, departures, n);
  free(boxes);
  free(departures);
  return energy;
}

/* ---- Labels ---- */

/* Adds the features of a decision and its labels: for each bin of the off clock, the share of time outside. Without a
   line, the off clock is the wall clock. With a line it is stopped while the line has reported no motion since the
   fix, up to decision->pause_limit, and runs slower while the line reports no motion after motion. */
static void add_sample(const Track *track, const Decision *decision, int has_line, double bound,
                       int t, double east, double north, Samples *samples) {
  int features = has_line ? LINE_FEATURES : FEATURES;
  float *f = samples->features + (size_t)samples->count * features;
  float *label = samples->labels + (size_t)samples->count * EXIT_BINS;
  float *weight = samples->weights + (size_t)samples->count * EXIT_BINS;
  for (int i = 0; i < features; i++) f[i] = decision->features[i];

  double rate = has_line ? still_rate() : 1;
  int has_started = !has_line || track->is_moving[t], still_seconds = 0, bin = 0;
  double clock = 0, outside = 0, known = 0, outside_before = 0, known_before = 0;
  double edge = exit_bin(1) * decision->time_scale;
  for (int s = t + 1; s < track->seconds && bin < EXIT_BINS; s++) {
    double ticks = 1;
    if (has_line && track->is_moving[s]) {
      has_started = 1;
    } else if (has_line && !has_started) {
      if (++still_seconds > decision->pause_limit) has_started = 1;
      ticks = 0;
    } else if (has_line) {
      ticks = rate;
    }
    double outside_rate =
        track->is_known[s] && is_outside(track, s, east, north, bound) ? rate : 0;
    if (ticks <= 0) {
      outside += outside_rate;
      continue;
    }
    double clock_start = clock, outside_start = outside, known_start = known;
    clock += ticks;
    outside += outside_rate;
    known += track->is_known[s] * ticks;
    while (bin < EXIT_BINS && edge <= clock) {
      double part = (edge - clock_start) / ticks;
      double outside_edge = outside_start + part * outside_rate;
      double known_edge = known_start + part * track->is_known[s] * ticks;
      double width = (exit_bin(bin + 1) - exit_bin(bin)) * decision->time_scale;
      double known_time = known_edge - known_before;
      weight[bin] = fmin(known_time / width, 1);
      label[bin] = known_time > 1e-9 ? fmin((outside_edge - outside_before) / known_time, 1) : 0;
      outside_before = outside_edge;
      known_before = known_edge;
      bin++;
      if (bin < EXIT_BINS) edge = exit_bin(bin + 1) * decision->time_scale;
    }
  }
  for (; bin < EXIT_BINS; bin++) weight[bin] = label[bin] = 0;
  samples->count++;
}

/* ---- A run ---- */

/* Wall seconds of an off time of `off` seconds of the off clock, from second `t`. */
static int wall_seconds(const Track *track, const Decision *decision, int has_line, int t) {
  double off = decision->off_time;
  if (!has_line) return (int)off;
  double clock = 0, motion = track->is_moving[t];
  int has_started = track->is_moving[t], still_seconds = 0, wall = 0;
  for (int s = t + 2; s < track->seconds + 8000; s++) {
    int is_moving = s < track->seconds ? track->is_moving[s] : 0;
    if (is_moving) {
      has_started = 1;
      motion++;
    }
    wall++;
    if (has_started && is_moving) {
      clock += 1;
    } else if (has_started && motion >= longest_false_alarm(off)) {
      clock += still_rate();
    } else if (++still_seconds >= decision->pause_limit) {
      break;
    }
    if (clock >= off || s >= track->seconds) break;
  }
  return wall;
}

/* The energy of the cycle that begins at `t`; sets `next` to the start of the next cycle. */
static double cycle(const Track *track, const Profile *profile, const Decision *decision, int has_line,
                    int t, int *next) {
  if (decision->off_time <= 0) {
    *next = t + 1;
    return profile->track;
  }
  int wall = wall_seconds(track, decision, has_line, t);
  int search = search_seconds(profile, wall);
  *next = t + 1 + wall + search;
  if (*next >= track->seconds) { /* cut off at the end of the track */
    int remaining = track->seconds - 2 - t > 0 ? track->seconds - 2 - t : 0;
    wall = wall < remaining ? wall : remaining;
    search = remaining - wall;
  }
  return profile->track + profile->standby * wall + profile->acquire * search;
}

static double random_off(Random *random, double off) {
  off = fmin(floor((off + 1) * exp(0.7 * normal(random))), 7200);
  return uniform(random) < 0.1 ? 0 : off;
}

void simulate(const Track *track, const Profile *profile, const Tuning *tuning,
              const Conditions *conditions, Outcome *outcome, Samples *samples) {
  Random random = {conditions->seed * 0x2545F4914F6CDD1Dull + 12345};
  int has_line = conditions->has_line;
  Planner *planner = planner_create(profile, tuning, conditions->bound, has_line);
  memset(outcome, 0, sizeof *outcome);
  double east_error = conditions->noise * normal(&random);
  double north_error = conditions->noise * normal(&random);
  int previous = conditions->start, line_time = 0, changed = 0, next;
  for (int t = conditions->start; t < track->seconds; t = next) {
    double decay = exp(-(t - previous) / conditions->noise_time), gain = sqrt(1 - decay * decay);
    east_error = east_error * decay + conditions->noise * gain * normal(&random);
    north_error = north_error * decay + conditions->noise * gain * normal(&random);
    FixSample sample = {.time = t, .accuracy = conditions->accuracy};
    sample.east = track->east[t] + east_error;
    sample.north = track->north[t] + north_error;
    sample.speed = fabs(track->speed[t] + conditions->speed_noise * normal(&random));
    if (has_line) {
      for (int s = previous + 1; s <= t; s++) sample.motion += track->is_moving[s];
      while (line_time < t) {
        line_time++;
        if (track->is_moving[line_time] != track->is_moving[line_time - 1]) changed = line_time;
      }
      sample.is_moving = track->is_moving[t];
      sample.since_change = t - changed;
    }
    Decision decision;
    planner_decide(planner, &sample, &decision);
    outcome->fixes++;
    if (conditions->exploration > 0 && uniform(&random) < conditions->exploration) {
      decision.off_time = random_off(&random, decision.off_time);
      planner_override(planner, decision.off_time);
    }
    if (samples && samples->count < samples->capacity) {
      add_sample(track, &decision, has_line, conditions->bound, t, sample.east, sample.north, samples);
    }
    outcome->energy += cycle(track, profile, &decision, has_line, t, &next);
    for (int s = t + 1; s < next && s < track->seconds; s++) {
      outcome->checked += track->is_known[s];
      outcome->outside +=
          track->is_known[s] && is_outside(track, s, sample.east, sample.north, conditions->bound);
    }
    if (next < track->seconds) outcome->checked += track->is_known[next]; /* a new fix is inside */
    previous = t;
    if (conditions->most_fixes && outcome->fixes >= conditions->most_fixes) break;
  }
  planner_free(planner);
  outcome->seconds = track->seconds - conditions->start;
}

/* Size of a type, so that the Python declarations can be checked. */
int size_of(int type) {
  static const int sizes[] = {sizeof(Profile), sizeof(Tuning), sizeof(FixSample), sizeof(Decision),
                              sizeof(Track), sizeof(Conditions), sizeof(Outcome), sizeof(Samples)};
  return sizes[type];
}
