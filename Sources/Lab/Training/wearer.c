#include "wearer.h"

void stay(Wearer *w, int is_moving) {
  if (is_done(w)) return;
  w->east[w->count] = w->x;
  w->north[w->count] = w->y;
  w->is_moving[w->count] = is_moving;
  w->count++;
}

void go(Wearer *w, int is_moving) {
  w->x += w->speed * cos(w->heading);
  w->y += w->speed * sin(w->heading);
  stay(w, is_moving);
}

void rest(Wearer *w, double seconds, double wandering) {
  double x = w->x, y = w->y, until_walk = exponential(w, 600);
  w->speed = 0;
  for (int i = 0; i < seconds && !is_done(w); i++) {
    if (wandering > 0 && (until_walk -= 1) <= 0) {
      double to_x = x + wandering * normal(&w->random);
      double to_y = y + wandering * normal(&w->random);
      int steps = (int)(hypot(to_x - w->x, to_y - w->y) / between(w, 0.4, 1.1)) + 1;
      double step_x = (to_x - w->x) / steps, step_y = (to_y - w->y) / steps;
      for (int j = 0; j < steps && i < seconds && !is_done(w); j++, i++) {
        w->x += step_x;
        w->y += step_y;
        stay(w, 1);
      }
      until_walk = exponential(w, between(w, 60, 1800));
    }
    stay(w, 0);
  }
}

/* ---- Ways ---- */

Way footpath(Wearer *w, double speed) {
  Way way = {.speed = speed, .speed_variation = 0.12, .variation_time = 30};
  way.acceleration = 0.5;
  way.braking = 0.7;
  way.curvature = 0.03;
  way.curvature_time = 20;
  way.junctions = between(w, 60, 250);
  way.turn_chance = 0.4;
  way.turn_speed = 0.9 * speed;
  way.stops = log_between(w, 120, 1500);
  way.shortest_stop = 3;
  way.longest_stop = between(w, 15, 60);
  way.new_speed_chance = 0.2;
  return way;
}

Way trail(Wearer *w, double speed) {
  Way way = {.speed = speed, .speed_variation = 0.25, .variation_time = 90};
  way.acceleration = 0.4;
  way.braking = 0.6;
  way.curvature = between(w, 0.03, 0.15);
  way.curvature_time = 15;
  way.junctions = 1e9;
  way.turn_speed = speed;
  way.stops = log_between(w, 300, 3000);
  way.shortest_stop = 10;
  way.longest_stop = between(w, 60, 400);
  return way;
}

Way running_path(Wearer *w, double speed) {
  Way way = {.speed = speed, .speed_variation = 0.07, .variation_time = 60};
  way.acceleration = 0.6;
  way.braking = 0.8;
  way.curvature = 0.03;
  way.curvature_time = 20;
  way.junctions = between(w, 80, 500);
  way.turn_chance = 0.4;
  way.turn_speed = 0.85 * speed;
  way.stops = log_between(w, 600, 8000);
  way.shortest_stop = 3;
  way.longest_stop = 60;
  way.new_speed_chance = 0.1;
  return way;
}

Way cycle_path(Wearer *w, double speed) {
  Way way = {.speed = speed, .speed_variation = 0.3, .variation_time = 40};
  way.acceleration = 0.5;
  way.braking = 1.2;
  way.curvature = 0.02;
  way.curvature_time = 15;
  way.junctions = between(w, 150, 900);
  way.turn_chance = 0.4;
  way.turn_speed = 0.5 * speed;
  way.stops = log_between(w, 300, 6000);
  way.shortest_stop = 4;
  way.longest_stop = between(w, 20, 80);
  way.new_speed_chance = 0.2;
  return way;
}

Way street(Wearer *w, double speed) {
  Way way = {.speed = speed, .speed_variation = 0.15, .variation_time = 20};
  way.acceleration = between(w, 1, 2.5);
  way.braking = between(w, 1.2, 2.5);
  way.curvature = 0.01;
  way.curvature_time = 10;
  way.junctions = between(w, 120, 600);
  way.turn_chance = 0.4;
  way.turn_speed = between(w, 3, 6);
  way.stops = log_between(w, 150, 1200);
  way.shortest_stop = 3;
  way.longest_stop = between(w, 20, 90);
  way.new_speed_chance = 0.4;
  return way;
}

Way jam(Wearer *w) {
  Way way = {.speed = between(w, 1.5, 5), .speed_variation = 0.4, .variation_time = 10};
  way.acceleration = 1;
  way.braking = 1.5;
  way.curvature = 0.005;
  way.curvature_time = 10;
  way.junctions = 1000;
  way.turn_chance = 0.2;
  way.turn_speed = 3;
  way.stops = log_between(w, 10, 80);
  way.shortest_stop = 2;
  way.longest_stop = between(w, 8, 40);
  way.new_speed_chance = 0.4;
  return way;
}

Way country_road(Wearer *w, double speed) {
  Way way = {.speed = speed, .speed_variation = 0.15, .variation_time = 30};
  way.acceleration = between(w, 0.7, 1.8);
  way.braking = 1.5;
  way.curvature = 0.015;
  way.curvature_time = 12;
  way.junctions = between(w, 700, 4000);
  way.turn_chance = 0.35;
  way.turn_speed = 6;
  way.stops = log_between(w, 3000, 30000);
  way.shortest_stop = 3;
  way.longest_stop = 30;
  way.new_speed_chance = 0.5;
  return way;
}

Way motorway(Wearer *w, double speed) {
  Way way = {.speed = speed, .speed_variation = 0.06, .variation_time = 60};
  way.acceleration = 0.7;
  way.braking = 1;
  way.curvature = 0.002;
  way.curvature_time = 30;
  way.junctions = log_between(w, 8000, 60000);
  way.turn_chance = 0.1;
  way.turn_speed = 12;
  way.stops = 1e5;
  way.shortest_stop = 5;
  way.longest_stop = 20;
  way.new_speed_chance = 0.1;
  return way;
}

Way railway(Wearer *w, double speed) {
  Way way = {.speed = speed, .speed_variation = 0.1, .variation_time = 90};
  way.acceleration = between(w, 0.3, 1.1);
  way.braking = between(w, 0.5, 1.0);
  way.curvature = 0.001;
  way.curvature_time = 60;
  way.junctions = 1e9;
  way.turn_speed = speed;
  return way;
}

/* ---- Travelling ---- */

/* The speed from which `braking` comes down to `speed` within `distance`. */
static double brake_to(double speed, double braking, double distance) {
  return sqrt(speed * speed + 2 * braking * fmax(distance, 0));
}

void travel(Wearer *w, double distance, Way way) {
  double curve = 0, variation = 0, done = 0, turn_left = 0;
  double to_junction = exponential(w, way.junctions);
  double to_stop = way.stops > 0 ? exponential(w, way.stops) : 1e18;
  double cruise = way.speed * exp(0.15 * normal(&w->random));
  enum { UNDECIDED, TURNS, GOES_STRAIGHT } plan = UNDECIDED;
  double variation_gain = way.speed_variation * sqrt(2 / way.variation_time);
  double curve_gain = way.curvature * sqrt(2 / way.curvature_time);
  while (done < distance && !is_done(w)) {
    variation += -variation / way.variation_time + variation_gain * normal(&w->random);
    curve += -curve / way.curvature_time + curve_gain * normal(&w->random);
    /* As fast as the road, the next turn, the next stop and the end allow. */
    double wanted = cruise * exp(variation);
    double for_end = brake_to(0, way.braking, distance - done);
    if (for_end < wanted) wanted = fmax(for_end, 0.3);
    if (to_junction < 400 && plan == TURNS) {
      wanted = fmin(wanted, brake_to(way.turn_speed, way.braking, to_junction));
    }
    if (to_stop < 400) wanted = fmin(wanted, brake_to(0, way.braking, to_stop - 1));
    double change = wanted - w->speed;
    if (change > way.acceleration) change = way.acceleration * between(w, 0.6, 1);
    w->speed = fmax(w->speed + fmax(change, -1.5 * way.braking), 0);
    if (to_stop < 2 && w->speed < 1) {
      w->speed = 0;
      int seconds = (int)between(w, way.shortest_stop, way.longest_stop);
      for (int i = 0; i < seconds && !is_done(w); i++) stay(w, 0);
      to_stop = exponential(w, way.stops);
    }
    if (to_stop < 2) to_stop = fmax(to_stop, 0.5);
    if (plan == UNDECIDED && to_junction < 300) {
      plan = chance(w, way.turn_chance) ? TURNS : GOES_STRAIGHT;
    }
    if (to_junction <= 0) {
      if (plan == TURNS) {
        int side = chance(w, 0.5) ? 1 : -1;
        turn_left = side * between(w, 0.8, 2);
      }
      to_junction = exponential(w, way.junctions) + 20;
      plan = UNDECIDED;
      if (way.new_speed_chance > 0 && chance(w, way.new_speed_chance)) {
        cruise = way.speed * exp(0.35 * normal(&w->random));
      }
    }
    double turn = fmin(fmax(turn_left, -0.5), 0.5);
    turn_left -= turn;
    w->heading += (curve + turn) * fmin(1, w->speed / fmax(0.3 * way.speed, 0.1));
    done += w->speed;
    to_junction -= w->speed;
    if (to_stop < 1e17) to_stop -= w->speed;
    if (w->speed < 0.05 && wanted < 0.31) w->speed = 0.3;
    go(w, w->speed > 0.05);
  }
  w->speed = 0;
}

void ride_train(Wearer *w, int stations, double speed, double spacing, double dwell) {
  for (int i = 0; i < stations && !is_done(w); i++) {
    double length = spacing * between(w, 0.5, 1.6);
    travel(w, length, railway(w, speed * between(w, 0.8, 1.05)));
    rest(w, dwell * between(w, 0.5, 1.8), 0);
    if (chance(w, 0.1)) { /* held at a signal */
      travel(w, 0.3 * spacing, railway(w, 0.4 * speed));
      rest(w, exponential(w, 60), 0);
    }
  }
}

void wander(Wearer *w, double seconds, double speed, double variation, double variation_time,
            double turning, double home_x, double home_y, double pull) {
  double state = 0, gain = variation * sqrt(2 / variation_time);
  for (int i = 0; i < seconds && !is_done(w); i++) {
    state += -state / variation_time + gain * normal(&w->random);
    w->heading += turning * normal(&w->random);
    if (pull > 0) {
      double x = home_x - w->x, y = home_y - w->y;
      w->heading += pull * sin(atan2(y, x) - w->heading) * fmin(1, hypot(x, y) / 100);
    }
    w->speed = speed * exp(state);
    go(w, 1);
  }
  w->speed = 0;
}

void go_to(Wearer *w, double x, double y, double speed, double swerving) {
  for (int i = 0; i < 40000 && !is_done(w); i++) {
    if (hypot(x - w->x, y - w->y) <= fmax(2 * speed, 2)) break;
    double angle = atan2(y - w->y, x - w->x) - w->heading, turn = sin(angle);
    if (cos(angle) < 0) turn = turn > 0 ? 1 : -1;
    w->heading += 0.3 * turn + swerving * normal(&w->random);
    w->speed += 0.2 * (speed - w->speed);
    go(w, 1);
  }
  w->speed = 0;
}

/* ---- Everyday life ---- */

static void drive(Wearer *w, double distance) {
  travel(w, fmin(30 + exponential(w, 60), 300), footpath(w, 1.3));
  rest(w, between(w, 5, 60), 0);
  while (distance > 0 && !is_done(w)) {
    double leg = fmin(distance, log_between(w, 500, 15000));
    if (chance(w, 0.15)) {
      travel(w, fmin(leg, 600), jam(w));
    } else if (distance > 8000 && chance(w, 0.5)) {
      if (chance(w, 0.5)) {
        travel(w, leg, motorway(w, between(w, 22, 36)));
      } else {
        travel(w, leg, country_road(w, between(w, 14, 25)));
      }
    } else {
      travel(w, fmin(leg, 5000), street(w, between(w, 8, 16)));
    }
    distance -= leg;
  }
  rest(w, between(w, 5, 60), 0);
  travel(w, fmin(20 + exponential(w, 60), 300), footpath(w, 1.3));
}

static void take_train(Wearer *w, double distance) {
  int is_far = distance > 15000;
  double to_station = between(w, 200, 900);
  travel(w, to_station, footpath(w, between(w, 1.1, 1.6)));
  rest(w, exponential(w, 240), 0);
  double spacing = is_far ? log_between(w, 2000, 15000) : between(w, 300, 1200);
  double speed = is_far ? between(w, 20, 45) : between(w, 9, 18);
  ride_train(w, (int)fmax(1, fmin(20, distance / spacing)), speed, spacing, between(w, 15, 60));
  double from_station = between(w, 100, 900);
  travel(w, from_station, footpath(w, between(w, 1.1, 1.6)));
}

void trip(Wearer *w, double distance) {
  double how = even(&w->random);
  if (distance < 1500 || how < 0.15) {
    travel(w, fmin(distance, 3000), footpath(w, between(w, 1.0, 1.7)));
  } else if (how < 0.35 && distance < 12000) {
    travel(w, distance, cycle_path(w, between(w, 3.5, 7)));
  } else if (how < 0.75) {
    drive(w, distance);
  } else {
    take_train(w, distance);
  }
}

void errand(Wearer *w) {
  double there = log_between(w, 50, 800);
  travel(w, there, footpath(w, between(w, 0.9, 1.5)));
  int places = 1 + (int)(even(&w->random) * 4);
  for (int i = 0; i < places; i++) {
    double pause = log_between(w, 60, 2400);
    rest(w, pause, between(w, 0, 15));
    double on = log_between(w, 30, 500);
    travel(w, on, footpath(w, between(w, 0.8, 1.4)));
  }
}
