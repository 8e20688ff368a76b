#include "motion.h"

void record_position(Motion *m, int is_moving) {
  if (is_done(m)) return;
  m->east[m->count] = m->x;
  m->north[m->count] = m->y;
  m->is_moving[m->count] = is_moving;
  m->count++;
}

void advance_second(Motion *m, int is_moving) {
  m->x += m->speed * cos(m->heading);
  m->y += m->speed * sin(m->heading);
  record_position(m, is_moving);
}

void stay(Motion *m, double seconds, double wandering) {
  double x = m->x, y = m->y, until_walk = exponential(m, 600);
  m->speed = 0;
  for (int i = 0; i < seconds && !is_done(m); i++) {
    if (wandering > 0 && (until_walk -= 1) <= 0) {
      double to_x = x + wandering * normal(&m->random);
      double to_y = y + wandering * normal(&m->random);
      int steps = (int)(hypot(to_x - m->x, to_y - m->y) / between(m, 0.4, 1.1)) + 1;
      double step_x = (to_x - m->x) / steps, step_y = (to_y - m->y) / steps;
      for (int j = 0; j < steps && i < seconds && !is_done(m); j++, i++) {
        m->x += step_x;
        m->y += step_y;
        record_position(m, 1);
      }
      until_walk = exponential(m, between(m, 60, 1800));
    }
    record_position(m, 0);
  }
}

/* ---- Routes: the constants of each, then what is drawn for it, in this order; `jam` draws its speed first ---- */

Route footpath(Motion *m, double speed) {
  Route route = {.speed = speed, .speed_variation = 0.12, .variation_time = 30, .acceleration = 0.5,
                 .braking = 0.7, .curvature = 0.03, .curvature_time = 20, .turn_chance = 0.4,
                 .turn_speed = 0.9 * speed, .shortest_stop = 3, .new_speed_chance = 0.2};
  route.junctions = between(m, 60, 250);
  route.stops = log_between(m, 120, 1500);
  route.longest_stop = between(m, 15, 60);
  return route;
}

Route trail(Motion *m, double speed) {
  Route route = {.speed = speed, .speed_variation = 0.25, .variation_time = 90, .acceleration = 0.4,
                 .braking = 0.6, .curvature_time = 15, .junctions = 1e9, .turn_speed = speed,
                 .shortest_stop = 10};
  route.curvature = between(m, 0.03, 0.15);
  route.stops = log_between(m, 300, 3000);
  route.longest_stop = between(m, 60, 400);
  return route;
}

Route running_path(Motion *m, double speed) {
  Route route = {.speed = speed, .speed_variation = 0.07, .variation_time = 60, .acceleration = 0.6,
                 .braking = 0.8, .curvature = 0.03, .curvature_time = 20, .turn_chance = 0.4,
                 .turn_speed = 0.85 * speed, .shortest_stop = 3, .longest_stop = 60,
                 .new_speed_chance = 0.1};
  route.junctions = between(m, 80, 500);
  route.stops = log_between(m, 600, 8000);
  return route;
}

Route cycle_path(Motion *m, double speed) {
  Route route = {.speed = speed, .speed_variation = 0.3, .variation_time = 40, .acceleration = 0.5,
                 .braking = 1.2, .curvature = 0.02, .curvature_time = 15, .turn_chance = 0.4,
                 .turn_speed = 0.5 * speed, .shortest_stop = 4, .new_speed_chance = 0.2};
  route.junctions = between(m, 150, 900);
  route.stops = log_between(m, 300, 6000);
  route.longest_stop = between(m, 20, 80);
  return route;
}

Route street(Motion *m, double speed) {
  Route route = {.speed = speed, .speed_variation = 0.15, .variation_time = 20, .curvature = 0.01,
                 .curvature_time = 10, .turn_chance = 0.4, .shortest_stop = 3,
                 .new_speed_chance = 0.4};
  route.acceleration = between(m, 1, 2.5);
  route.braking = between(m, 1.2, 2.5);
  route.junctions = between(m, 120, 600);
  route.turn_speed = between(m, 3, 6);
  route.stops = log_between(m, 150, 1200);
  route.longest_stop = between(m, 20, 90);
  return route;
}

Route jam(Motion *m) {
  Route route = {.speed = between(m, 1.5, 5), .speed_variation = 0.4, .variation_time = 10,
                 .acceleration = 1, .braking = 1.5, .curvature = 0.005, .curvature_time = 10,
                 .junctions = 1000, .turn_chance = 0.2, .turn_speed = 3, .shortest_stop = 2,
                 .new_speed_chance = 0.4};
  route.stops = log_between(m, 10, 80);
  route.longest_stop = between(m, 8, 40);
  return route;
}

Route country_road(Motion *m, double speed) {
  Route route = {.speed = speed, .speed_variation = 0.15, .variation_time = 30, .braking = 1.5,
                 .curvature = 0.015, .curvature_time = 12, .turn_chance = 0.35, .turn_speed = 6,
                 .shortest_stop = 3, .longest_stop = 30, .new_speed_chance = 0.5};
  route.acceleration = between(m, 0.7, 1.8);
  route.junctions = between(m, 700, 4000);
  route.stops = log_between(m, 3000, 30000);
  return route;
}

Route motorway(Motion *m, double speed) {
  Route route = {.speed = speed, .speed_variation = 0.06, .variation_time = 60, .acceleration = 0.7,
                 .braking = 1, .curvature = 0.002, .curvature_time = 30, .turn_chance = 0.1,
                 .turn_speed = 12, .stops = 1e5, .shortest_stop = 5, .longest_stop = 20,
                 .new_speed_chance = 0.1};
  route.junctions = log_between(m, 8000, 60000);
  return route;
}

Route railway(Motion *m, double speed) {
  Route route = {.speed = speed, .speed_variation = 0.1, .variation_time = 90, .curvature = 0.001,
                 .curvature_time = 60, .junctions = 1e9, .turn_speed = speed};
  route.acceleration = between(m, 0.3, 1.1);
  route.braking = between(m, 0.5, 1.0);
  return route;
}

/* ---- Travel ---- */

/* The speed from which `braking` decelerates to `speed` within `distance`. */
static double brake_to(double speed, double braking, double distance) {
  return sqrt(speed * speed + 2 * braking * fmax(distance, 0));
}

void travel(Motion *m, double distance, Route route) {
  double curve = 0, variation = 0, done = 0, remaining_turn = 0;
  double to_junction = exponential(m, route.junctions);
  double to_stop = route.stops > 0 ? exponential(m, route.stops) : 1e18;
  double cruise = route.speed * exp(0.15 * normal(&m->random));
  enum { UNDECIDED, TURNS, GOES_STRAIGHT } plan = UNDECIDED;
  double variation_gain = route.speed_variation * sqrt(2 / route.variation_time);
  double curve_gain = route.curvature * sqrt(2 / route.curvature_time);
  while (done < distance && !is_done(m)) {
    variation += -variation / route.variation_time + variation_gain * normal(&m->random);
    curve += -curve / route.curvature_time + curve_gain * normal(&m->random);
    /* Speed limited by the road, the next turn, the next stop and the end. */
    double target = cruise * exp(variation);
    double for_end = brake_to(0, route.braking, distance - done);
    if (for_end < target) target = fmax(for_end, 0.3);
    if (to_junction < 400 && plan == TURNS) {
      target = fmin(target, brake_to(route.turn_speed, route.braking, to_junction));
    }
    if (to_stop < 400) target = fmin(target, brake_to(0, route.braking, to_stop - 1));
    double change = target - m->speed;
    if (change > route.acceleration) change = route.acceleration * between(m, 0.6, 1);
    m->speed = fmax(m->speed + fmax(change, -1.5 * route.braking), 0);
    if (to_stop < 2 && m->speed < 1) {
      m->speed = 0;
      int seconds = (int)between(m, route.shortest_stop, route.longest_stop);
      for (int i = 0; i < seconds && !is_done(m); i++) record_position(m, 0);
      to_stop = exponential(m, route.stops);
    }
    if (to_stop < 2) to_stop = fmax(to_stop, 0.5);
    if (plan == UNDECIDED && to_junction < 300) {
      plan = chance(m, route.turn_chance) ? TURNS : GOES_STRAIGHT;
    }
    if (to_junction <= 0) {
      if (plan == TURNS) {
        int side = chance(m, 0.5) ? 1 : -1;
        remaining_turn = side * between(m, 0.8, 2);
      }
      to_junction = exponential(m, route.junctions) + 20;
      plan = UNDECIDED;
      if (route.new_speed_chance > 0 && chance(m, route.new_speed_chance)) {
        cruise = route.speed * exp(0.35 * normal(&m->random));
      }
    }
    double turn = fmin(fmax(remaining_turn, -0.5), 0.5);
    remaining_turn -= turn;
    m->heading += (curve + turn) * fmin(1, m->speed / fmax(0.3 * route.speed, 0.1));
    done += m->speed;
    to_junction -= m->speed;
    if (to_stop < 1e17) to_stop -= m->speed;
    if (m->speed < 0.05 && target < 0.31) m->speed = 0.3;
    advance_second(m, m->speed > 0.05);
  }
  m->speed = 0;
}

void ride_train(Motion *m, int stations, double speed, double spacing, double dwell) {
  for (int i = 0; i < stations && !is_done(m); i++) {
    double length = spacing * between(m, 0.5, 1.6);
    travel(m, length, railway(m, speed * between(m, 0.8, 1.05)));
    stay(m, dwell * between(m, 0.5, 1.8), 0);
    if (chance(m, 0.1)) { /* held at a signal */
      travel(m, 0.3 * spacing, railway(m, 0.4 * speed));
      stay(m, exponential(m, 60), 0);
    }
  }
}

void random_walk(Motion *m, double seconds, double speed, double variation, double variation_time,
            double turning, double home_x, double home_y, double pull) {
  double state = 0, gain = variation * sqrt(2 / variation_time);
  for (int i = 0; i < seconds && !is_done(m); i++) {
    state += -state / variation_time + gain * normal(&m->random);
    m->heading += turning * normal(&m->random);
    if (pull > 0) {
      double x = home_x - m->x, y = home_y - m->y;
      m->heading += pull * sin(atan2(y, x) - m->heading) * fmin(1, hypot(x, y) / 100);
    }
    m->speed = speed * exp(state);
    advance_second(m, 1);
  }
  m->speed = 0;
}

void go_to(Motion *m, double x, double y, double speed, double swerving) {
  for (int i = 0; i < 40000 && !is_done(m); i++) {
    if (hypot(x - m->x, y - m->y) <= fmax(2 * speed, 2)) break;
    double angle = atan2(y - m->y, x - m->x) - m->heading, turn = sin(angle);
    if (cos(angle) < 0) turn = turn > 0 ? 1 : -1;
    m->heading += 0.3 * turn + swerving * normal(&m->random);
    m->speed += 0.2 * (speed - m->speed);
    advance_second(m, 1);
  }
  m->speed = 0;
}

/* ---- Daily life ---- */

static void drive(Motion *m, double distance) {
  Route path = footpath(m, 1.3);
  travel(m, fmin(30 + exponential(m, 60), 300), path);
  stay(m, between(m, 5, 60), 0);
  while (distance > 0 && !is_done(m)) {
    double leg = fmin(distance, log_between(m, 500, 15000));
    if (chance(m, 0.15)) {
      travel(m, fmin(leg, 600), jam(m));
    } else if (distance > 8000 && chance(m, 0.5)) {
      if (chance(m, 0.5)) {
        travel(m, leg, motorway(m, between(m, 22, 36)));
      } else {
        travel(m, leg, country_road(m, between(m, 14, 25)));
      }
    } else {
      travel(m, fmin(leg, 5000), street(m, between(m, 8, 16)));
    }
    distance -= leg;
  }
  stay(m, between(m, 5, 60), 0);
  path = footpath(m, 1.3);
  travel(m, fmin(20 + exponential(m, 60), 300), path);
}

static void take_train(Motion *m, double distance) {
  int is_far = distance > 15000;
  double to_station = between(m, 200, 900);
  travel(m, to_station, footpath(m, between(m, 1.1, 1.6)));
  stay(m, exponential(m, 240), 0);
  double spacing = is_far ? log_between(m, 2000, 15000) : between(m, 300, 1200);
  double speed = is_far ? between(m, 20, 45) : between(m, 9, 18);
  ride_train(m, (int)fmax(1, fmin(20, distance / spacing)), speed, spacing, between(m, 15, 60));
  double from_station = between(m, 100, 900);
  travel(m, from_station, footpath(m, between(m, 1.1, 1.6)));
}

void trip(Motion *m, double distance) {
  double choice = uniform(&m->random);
  if (distance < 1500 || choice < 0.15) {
    travel(m, fmin(distance, 3000), footpath(m, between(m, 1.0, 1.7)));
  } else if (choice < 0.35 && distance < 12000) {
    travel(m, distance, cycle_path(m, between(m, 3.5, 7)));
  } else if (choice < 0.75) {
    drive(m, distance);
  } else {
    take_train(m, distance);
  }
}

void errand(Motion *m) {
  double first_leg = log_between(m, 50, 800);
  travel(m, first_leg, footpath(m, between(m, 0.9, 1.5)));
  int places = 1 + (int)(uniform(&m->random) * 4);
  for (int i = 0; i < places; i++) {
    double pause = log_between(m, 60, 2400);
    stay(m, pause, between(m, 0, 15));
    double leg = log_between(m, 30, 500);
    travel(m, leg, footpath(m, between(m, 0.8, 1.4)));
  }
}
