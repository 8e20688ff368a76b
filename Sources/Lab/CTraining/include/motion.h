/* Motion of a device in a plane, second by second; each position is recorded. */
#ifndef TRAINING_MOTION_H
#define TRAINING_MOTION_H

#include <stdint.h>

#include "random.h"

typedef struct {
  Random random;
  int count, limit; /* seconds recorded, seconds to record */
  double *east, *north;
  uint8_t *is_moving;
  double x, y, heading, speed; /* metres, radians, m/s */
} Motion;

static inline double between(Motion *m, double low, double high) {
  return low + (high - low) * uniform(&m->random);
}

/* Uniform in the logarithm: 10 to 100 as likely as 100 to 1000. */
static inline double log_between(Motion *m, double low, double high) {
  return low * exp(uniform(&m->random) * log(high / low));
}

static inline double exponential(Motion *m, double mean) {
  return -mean * log(1e-12 + uniform(&m->random));
}

static inline int chance(Motion *m, double probability) { return uniform(&m->random) < probability; }

static inline int is_done(const Motion *m) { return m->count >= m->limit; }

/* Records the position. */
void record_position(Motion *m, int is_moving);
/* Advances by one second at the current speed and heading. */
void advance_second(Motion *m, int is_moving);
/* Stays, with occasional walks to other positions at about `wandering` metres. */
void stay(Motion *m, double seconds, double wandering);

/* Properties of a route; m, s, m/s, m/s². */
typedef struct {
  double speed, speed_variation, variation_time; /* variation: of the logarithm */
  double acceleration, braking;
  double curvature, curvature_time; /* of the heading, rad/s */
  double junctions;                 /* mean distance between */
  double turn_chance, turn_speed;
  double stops;                     /* mean distance between; 0: none */
  double shortest_stop, longest_stop;
  double new_speed_chance;          /* at a junction: another type of road */
} Route;

Route footpath(Motion *m, double speed);
Route trail(Motion *m, double speed);
Route running_path(Motion *m, double speed);
Route cycle_path(Motion *m, double speed);
Route street(Motion *m, double speed);
Route jam(Motion *m);
Route country_road(Motion *m, double speed);
Route motorway(Motion *m, double speed);
Route railway(Motion *m, double speed);

void travel(Motion *m, double distance, Route route);
void ride_train(Motion *m, int stations, double speed, double spacing, double dwell);
/* A correlated random walk, drawn towards a home position if `pull` is above 0. */
void random_walk(Motion *m, double seconds, double speed, double variation, double variation_time,
            double turning, double home_x, double home_y, double pull);
void go_to(Motion *m, double x, double y, double speed, double swerving);
/* A trip: on foot, by bicycle, car or train. */
void trip(Motion *m, double distance);
/* A walk with one to four stays. */
void errand(Motion *m);

/* recorder.c: position errors of a recorder, and the output of a motion line. */
void add_position_errors(Motion *m, int is_indoors);
void convert_to_motion_line(Motion *m);

#endif
