/* The planner of the core and the optimum, for training: Sources/Lab/TrainingCore implements these functions in Swift. Metres in a local
   plane, seconds, m/s, mW, mJ. */
#ifndef TRAINING_PLANNER_H
#define TRAINING_PLANNER_H

enum { EXIT_BINS = 24, FEATURES = 31, LINE_FEATURES = 36 /* with a motion line */, PROFILE_POINTS = 8 };

/* Power of a receiver, and acquisition time after an off time: interpolated linearly between points. */
typedef struct {
  double acquire, track, standby;
  int points;
  double off[PROFILE_POINTS], search[PROFILE_POINTS];
} Profile;

enum {
  NETWORK = 0,
  /* For comparison, and for the first training round. */
  ENTRACKED = 1,
  ENTRACKED_CAUTIOUS = 2,
  EXPLORER = 3
};

/* The constants of MovementTuning that training changes. */
typedef struct {
  const float *weights; /* in the order of CExitWeights.h */
  double price, least_price, prior_energy, prior_time;
  int raises_price;
  int policy;
  double explorer_scale;
} Tuning;

/* A fix, with the state of the motion line. */
typedef struct {
  double time, east, north, speed, accuracy;
  int is_moving;        /* whether the motion line reports motion */
  double motion;        /* seconds of motion since the last fix, by the line */
  double since_change;  /* seconds since the line changed */
} FixSample;

/* What the planner decided after a fix, and from what. */
typedef struct {
  double off_time;    /* seconds for which the receiver may be off, 0 to stay on for a second */
  double time_scale;  /* the time in which the device leaves the bound at the recent speed */
  double pause_limit; /* limit of an off clock that is stopped because the line reports no motion */
  double features[LINE_FEATURES];
} Decision;

typedef struct Planner Planner;

/* Sets the constants and weights of the product. */
void set_product_tuning(Tuning *tuning, int has_line);

/* A planner for the accuracy bound `bound`; end its life with planner_free. */
Planner *planner_create(const Profile *profile, const Tuning *tuning, double bound, int has_line);
void planner_free(Planner *planner);

/* Accepts a fix. */
void planner_decide(Planner *planner, const FixSample *sample, Decision *decision);
/* Replaces the off time of the last decision. */
void planner_override(Planner *planner, double off_time);

/* Seconds of acquisition after `off` seconds off. */
double acquisition_time(const Profile *profile, double off);

/* Energy of the schedule with the least receiver energy. `departures` has, for each of `seconds` seconds, the first later
   one at which the device is outside the bound around its position, or `seconds`. */
double schedule_energy(const Profile *profile, const int *departures, int seconds);

/* Lower bound of a bin, 0 to EXIT_BINS, in units of Decision.time_scale. */
double exit_bin(int index);

/* Rate of the off clock while the line reports no motion after motion, and the longest motion that is a false alarm. */
double still_rate(void);
double longest_false_alarm(double off_time);

#endif
