/* The reference planner: the same decisions as the Swift files in Sources/Core/LocationPolicy/Movement.
   Scalar, no heap, a fixed size. Metres in a local plane, seconds, m/s, mW, mJ. */
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

/* Power of a receiver, and acquisition time after an off time: interpolated linearly between points. */
typedef struct {
  double acquire, track, standby;
  int points;
  double off[PROFILE_POINTS], search[PROFILE_POINTS];
} Profile;

/* Means and inverse deviations of the features, then three layers; a row of weights per output. */
typedef struct {
  int features;
  float mean[LINE_FEATURES], scale[LINE_FEATURES];
  float weights_1[HIDDEN_1 * LINE_FEATURES], biases_1[HIDDEN_1];
  float weights_2[HIDDEN_2 * HIDDEN_1], biases_2[HIDDEN_2];
  float weights_3[EXIT_BINS * HIDDEN_2], biases_3[EXIT_BINS];
} Network;

typedef enum {
  NETWORK = 0,
  /* For comparison, and for the first training round (baselines.c). */
  ENTRACKED = 1,
  ENTRACKED_CAUTIOUS = 2,
  EXPLORER = 3
} Policy;

/* MovementTuning in MovementModel.swift. */
typedef struct {
  double price;         /* price of a second outside, in seconds of mean energy */
  double least_price;   /* mW */
  double prior_energy;  /* assumed before the first fix, mJ */
  double prior_time;
  double guard;         /* exponent of the excess of time outside, by which the price rises */
  double acceleration;  /* maximum acceleration of a device, m/s² */
  double run_limit;     /* limit of the distance at the reported speed until the next fix, in E */
  double first_run_limit; /* the same for the first fixes */
  int first_fixes;
  double standing_rate; /* rate of the off clock while the line reports no motion after motion */
  double false_alarm;   /* motion shorter than this part of the off time is a false alarm, */
  double longest_alarm; /* unless it is longer than this, seconds */
  double explorer_scale;
  int policy;
} Tuning;

/* A fix, with the state of the motion line. */
typedef struct {
  double time, east, north, speed, accuracy;
  int is_moving;        /* whether the motion line reports motion */
  double motion;        /* seconds of motion since the last fix, by the line */
  double since_change;  /* seconds since the line changed */
} FixSample;

typedef struct {
  const Profile *profile;
  const Network *network;
  Tuning tuning;
  double bound; /* the accuracy bound, E */
  int has_line;

  int fix_count;
  FixSample last;
  double time_step, displacement, east_displacement, north_displacement, turn_cosine, previous_speed;
  double start_time;
  double peak_speed[3];
  double mean_speed[4], east_drift[4], north_drift[4];
  double anchor_east[3], anchor_north[3], anchor_time[3];
  double last_moving_time, last_standing_time, moving_share, long_moving_share, mean_displacement_ratio;
  double motion_share, short_motion_share, long_motion_share;
  double recent_speed, time_scale; /* the time in which the device leaves the bound at the recent speed */

  double off_time; /* last decision */
  double energy, time, outside_time;
  double pause_limit; /* limit of an off clock that is stopped because the line reports no motion */
  double features[LINE_FEATURES];
  double probabilities[EXIT_BINS];
} Planner;

extern const double exit_bins[EXIT_BINS + 1];

void planner_begin(Planner *planner, const Profile *profile, const Network *network,
                   const Tuning *tuning, double bound, int has_line);

/* Accepts a fix; returns the seconds for which the receiver may be off, 0 to stay on for a second. */
double planner_off_time(Planner *planner, const FixSample *sample);

/* Seconds of acquisition after `off` seconds off. */
double acquisition_time(const Profile *profile, double off);

/* The remaining distance if the fix deviates by half its accuracy. */
double distance_margin(const Planner *planner);

/* baselines.c */
double baseline_off(const Planner *planner);

#endif
