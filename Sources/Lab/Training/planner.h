/* The reference planner: what the Swift files in Sources/Core/LocationPolicy/Movement do, with the same names.
   Scalar, no heap, a fixed size. Metres of any local plane, seconds, m/s, mW, mJ. */
#ifndef TRAINING_PLANNER_H
#define TRAINING_PLANNER_H

enum {
  EXIT_BINS = 24,
  FEATURES = 31,
  LINE_FEATURES = 36, /* with a motion line */
  HIDDEN_1 = 24,
  HIDDEN_2 = 16,
  PROFILE_POINTS = 8
};

/* What a receiver takes, and how long it searches after a time off: straight between points. */
typedef struct {
  double acquire, track, standby;
  int points;
  double off[PROFILE_POINTS], search[PROFILE_POINTS];
} Profile;

/* Means and inverse deviations of the features, then three layers, rows of weights by output. */
typedef struct {
  int features;
  float mean[LINE_FEATURES], scale[LINE_FEATURES];
  float weights_1[HIDDEN_1 * LINE_FEATURES], biases_1[HIDDEN_1];
  float weights_2[HIDDEN_2 * HIDDEN_1], biases_2[HIDDEN_2];
  float weights_3[EXIT_BINS * HIDDEN_2], biases_3[EXIT_BINS];
} Network;

typedef enum {
  NETWORK = 0,
  /* Only to compare with, and to begin training (baselines.c). */
  ENTRACKED = 1,
  ENTRACKED_CAUTIOUS = 2,
  EXPLORER = 3
} Policy;

/* MovementTuning in MovementModel.swift. */
typedef struct {
  double price;         /* a second outside costs so many seconds' mean energy */
  double least_price;   /* mW */
  double prior_energy;  /* assumed before anything is known, mJ */
  double prior_time;
  double guard;         /* power of the excess of time outside by which the price rises */
  double acceleration;  /* hardest start of a wearer, m/s² */
  double run_limit;     /* rest at most as long as the speed just told takes for so many times E */
  double first_run_limit; /* the same for the first fixes */
  int first_fixes;
  double standing_rate; /* of the off clock while the line says still again after motion */
  double false_alarm;   /* motion shorter than this part of the time off is a false alarm, */
  double longest_alarm; /* but motion longer than this, seconds, is none */
  double explorer_scale;
  int policy;
} Tuning;

/* What one fix tells. */
typedef struct {
  double time, east, north, speed, accuracy;
  int is_moving;        /* the motion line says motion */
  double motion;        /* seconds in motion since the last fix, by the line */
  double since_change;  /* seconds since the line changed */
} Sighting;

typedef struct {
  const Profile *profile;
  const Network *network;
  Tuning tuning;
  double bound; /* the distance promised, E */
  int has_line;

  int count;
  Sighting last;
  double step, moved, east_moved, north_moved, turn, speed_before;
  double start;
  double fastest[3];
  double mean[4], east_drift[4], north_drift[4];
  double anchor_east[3], anchor_north[3], anchor_time[3];
  double moving_at, standing_at, moving_share, long_moving_share, excess;
  double motion_share, short_motion, long_motion;
  double pace, unit; /* the speed of late, and the time in which it leaves the distance */

  double off; /* decided last */
  double energy, time, outside;
  double trust; /* how long a line that says still is believed */
  double features[LINE_FEATURES];
  double chances[EXIT_BINS];
} Planner;

extern const double exit_bins[EXIT_BINS + 1];

void planner_begin(Planner *planner, const Profile *profile, const Network *network,
                   const Tuning *tuning, double bound, int has_line);

/* Takes a fix in; gives the seconds for which the receiver may be off, 0 to stay on a second. */
double planner_off(Planner *planner, const Sighting *seen);

/* Seconds of search after `off` seconds off. */
double search_time(const Profile *profile, double off);

/* The distance left when a fix may be off by half its accuracy. */
double planner_room(const Planner *planner);

/* baselines.c */
double baseline_off(const Planner *planner);

#endif
