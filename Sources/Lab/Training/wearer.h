/* A wearer who is led over the plane second by second; everything it does is written down. */
#ifndef TRAINING_WEARER_H
#define TRAINING_WEARER_H

#include <stdint.h>

#include "random.h"

typedef struct {
  Random random;
  int count, limit; /* seconds written, seconds wanted */
  double *east, *north;
  uint8_t *is_moving;
  double x, y, heading, speed; /* metres, radians, m/s */
} Wearer;

static inline double between(Wearer *w, double low, double high) {
  return low + (high - low) * even(&w->random);
}

/* Even in the logarithm: 10 to 100 as likely as 100 to 1000. */
static inline double log_between(Wearer *w, double low, double high) {
  return low * exp(even(&w->random) * log(high / low));
}

static inline double exponential(Wearer *w, double mean) {
  return -mean * log(1e-12 + even(&w->random));
}

static inline int chance(Wearer *w, double probability) { return even(&w->random) < probability; }

static inline int is_done(const Wearer *w) { return w->count >= w->limit; }

/* Writes where it is. */
void stay(Wearer *w, int is_moving);
/* Goes on for a second at its speed and heading. */
void go(Wearer *w, int is_moving);
/* Rests, with now and then a walk to another spot about `wandering` metres off. */
void rest(Wearer *w, double seconds, double wandering);

/* How a way is travelled; m, s, m/s, m/s². */
typedef struct {
  double speed, speed_variation, variation_time; /* variation: of the logarithm */
  double acceleration, braking;
  double curvature, curvature_time; /* of the heading, rad/s */
  double junctions;                 /* mean distance between */
  double turn_chance, turn_speed;
  double stops;                     /* mean distance between; 0: none */
  double shortest_stop, longest_stop;
  double new_speed_chance;          /* at a junction: another kind of road */
} Way;

Way footpath(Wearer *w, double speed);
Way trail(Wearer *w, double speed);
Way running_path(Wearer *w, double speed);
Way cycle_path(Wearer *w, double speed);
Way street(Wearer *w, double speed);
Way jam(Wearer *w);
Way country_road(Wearer *w, double speed);
Way motorway(Wearer *w, double speed);
Way railway(Wearer *w, double speed);

void travel(Wearer *w, double distance, Way way);
void ride_train(Wearer *w, int stations, double speed, double spacing, double dwell);
/* A correlated random walk, drawn towards a home where `pull` is above 0. */
void wander(Wearer *w, double seconds, double speed, double variation, double variation_time,
            double turning, double home_x, double home_y, double pull);
void go_to(Wearer *w, double x, double y, double speed, double swerving);
/* An everyday trip: on foot, by bicycle, car or train. */
void trip(Wearer *w, double distance);
/* On foot between one to four places. */
void errand(Wearer *w);

/* recorder.c: the errors of a position recorder; and what a motion line says. */
void record(Wearer *w, int is_indoors);
void watch(Wearer *w);

#endif
