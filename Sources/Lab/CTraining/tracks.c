/* Twenty kinds of generated tracks at intervals of one second, from seeds.
   Ranges are uniform ("between") or uniform in the logarithm ("log_between"); metres, seconds, m/s.
   No expression draws two random numbers, because C does not define their order of evaluation. */
#include "motion.h"

static const double turn_round = 3.1416;

/* On foot: legs of 200 m to 4 km, pauses of 20 s to 25 min, sometimes back along the leg. */
static void walk(Motion *m) {
  double speed = between(m, 1, 1.7);
  while (!is_done(m)) {
    double leg = log_between(m, 200, 4000);
    travel(m, leg, footpath(m, speed));
    if (chance(m, 0.7)) {
      double pause = log_between(m, 20, 1500);
      stay(m, pause, between(m, 0, 8));
    }
    if (chance(m, 0.3)) m->heading += turn_round;
  }
}

/* Laps of an oval of 36 to 200 m. */
static void laps(Motion *m, double speed) {
  double radius = between(m, 36, 200), angle = 0;
  while (!is_done(m)) {
    angle += speed * exp(0.05 * normal(&m->random)) / radius;
    m->x = radius * cos(angle);
    m->y = 1.6 * radius * sin(angle);
    record_position(m, 1);
    if (chance(m, 0.0005)) stay(m, exponential(m, 120), 0);
  }
}

/* A run at 2 to 4.5 m/s, one in four in laps; sometimes a pause or a part at walking speed. */
static void run(Motion *m) {
  double speed = between(m, 2, 4.5);
  if (chance(m, 0.25)) return laps(m, speed);
  while (!is_done(m)) {
    double leg = log_between(m, 500, 8000);
    travel(m, leg, running_path(m, speed));
    if (chance(m, 0.5)) stay(m, exponential(m, 60), 0);
    if (chance(m, 0.3)) {
      double piece = exponential(m, 300);
      travel(m, piece, footpath(m, 1.4));
    }
    if (chance(m, 0.4)) m->heading += turn_round;
  }
}

/* A hike at 0.6 to 1.5 m/s on winding trails, rests of 30 s to 40 min. */
static void hike(Motion *m) {
  double speed = between(m, 0.6, 1.5);
  while (!is_done(m)) {
    double leg = log_between(m, 300, 5000);
    travel(m, leg, trail(m, speed * between(m, 0.7, 1.2)));
    double pause = log_between(m, 30, 2400);
    stay(m, pause, chance(m, 0.5) ? 5 : 0);
  }
}

/* A bicycle at 3.5 to 8.5 m/s, pauses of 30 s to 30 min. */
static void ride(Motion *m) {
  double speed = between(m, 3.5, 8.5);
  while (!is_done(m)) {
    double leg = log_between(m, 1000, 20000);
    travel(m, leg, cycle_path(m, speed * between(m, 0.8, 1.15)));
    if (chance(m, 0.4)) {
      double pause = log_between(m, 30, 1800);
      stay(m, pause, between(m, 0, 5));
    }
  }
}

/* A car in town at 8 to 17 m/s: lights, jams, and errands on foot between. */
static void city_drive(Motion *m) {
  double speed = between(m, 8, 17);
  while (!is_done(m)) {
    if (chance(m, 0.2)) {
      double queue = between(m, 200, 2500);
      travel(m, queue, jam(m));
    } else {
      double leg = log_between(m, 800, 12000);
      travel(m, leg, street(m, speed));
    }
    if (!chance(m, 0.3)) continue;
    stay(m, between(m, 5, 60), 0);
    if (chance(m, 0.7)) {
      errand(m);
    } else {
      stay(m, log_between(m, 60, 2400), 0);
    }
  }
}

/* A car over land: streets, then 5 to 60 km of country road or motorway. */
static void long_drive(Motion *m) {
  while (!is_done(m)) {
    double out = log_between(m, 500, 3000);
    travel(m, out, street(m, between(m, 8, 14)));
    double leg = log_between(m, 5000, 60000);
    if (chance(m, 0.5)) {
      travel(m, leg, country_road(m, between(m, 13, 26)));
    } else {
      travel(m, leg, motorway(m, between(m, 20, 38)));
    }
    if (chance(m, 0.15)) {
      double queue = between(m, 500, 4000);
      travel(m, queue, jam(m));
    }
    if (chance(m, 0.3)) stay(m, log_between(m, 60, 2400), 5);
  }
}

/* Trains at 15 to 80 m/s, stations each 2.5 to 50 km. */
static void train(Motion *m) {
  while (!is_done(m)) {
    int stations = 2 + (int)(uniform(&m->random) * 8);
    double speed = between(m, 15, 80), spacing = log_between(m, 2500, 50000);
    ride_train(m, stations, speed, spacing, between(m, 30, 150));
  }
}

/* Trams and underground at 8 to 20 m/s, then a walk and a stay. */
static void tram(Motion *m) {
  while (!is_done(m)) {
    int stations = 5 + (int)(uniform(&m->random) * 15);
    double speed = between(m, 8, 20), spacing = between(m, 300, 1800);
    ride_train(m, stations, speed, spacing, between(m, 12, 40));
    double on_foot = log_between(m, 100, 1200);
    travel(m, on_foot, footpath(m, 1.4));
    double pause = log_between(m, 60, 2000);
    stay(m, pause, between(m, 0, 10));
  }
}

/* One tack of a sailing boat: it comes about, then keeps its course. */
static void tack(Motion *m, double course, double seconds, double speed) {
  double gust = 0;
  for (int i = 0; i < seconds && !is_done(m); i++) {
    double turn = sin(course - m->heading);
    if (cos(course - m->heading) < 0) turn = turn > 0 ? 1 : -1;
    m->heading += 0.12 * turn + 0.015 * normal(&m->random);
    gust += -gust / 60 + 0.2 * sqrt(2 / 60.0) * normal(&m->random);
    double target = speed * exp(gust) * (fabs(turn) > 0.5 ? 0.5 : 1);
    m->speed += 0.1 * (target - m->speed);
    advance_second(m, 1);
  }
}

/* Sailing at 1 to 7 m/s: beats of up to eight tacks of 1 to 25 min, free legs, calms. */
static void sail(Motion *m) {
  double wind = between(m, 0, 6.283), speed = log_between(m, 1, 6);
  while (!is_done(m)) {
    double leg = log_between(m, 60, 1500), course;
    int tacks = 1;
    if (chance(m, 0.6)) {
      double side = chance(m, 0.5) ? 1 : -1;
      course = wind + side * between(m, 0.7, 0.9);
      tacks = 1 + (int)(uniform(&m->random) * 8);
    } else {
      course = between(m, 0, 6.283);
    }
    for (int i = 0; i < tacks && !is_done(m); i++) {
      tack(m, course, leg, speed);
      course = 2 * wind - course;
      leg *= between(m, 0.6, 1.5);
    }
    if (chance(m, 0.15)) {
      double calm = log_between(m, 60, 1200);
      random_walk(m, calm, between(m, 0.1, 0.5), 0.3, 60, 0.1, 0, 0, 0);
    }
    if (chance(m, 0.1)) speed = log_between(m, 1, 7);
  }
}

/* At anchor for 20 min to 3 h, swinging on 8 to 60 m of chain; half the time off again after. */
static void anchor(Motion *m) {
  while (!is_done(m)) {
    double chain = log_between(m, 8, 60), angle = between(m, 0, 6.28), swing = 0;
    double x = m->x - chain * cos(angle), y = m->y - chain * sin(angle);
    double seconds = log_between(m, 1200, 12000), period = log_between(m, 60, 600);
    for (int i = 0; i < seconds && !is_done(m); i++) {
      swing += -swing / period + 0.5 / period * sqrt(2 / period) * normal(&m->random);
      angle += swing;
      double radius = chain * (0.85 + 0.1 * sin(i / period)), pull = 0.1 * fmin(1, i / 120.0);
      m->x += pull * (x + radius * cos(angle) - m->x);
      m->y += pull * (y + radius * sin(angle) - m->y);
      record_position(m, 1);
    }
    if (chance(m, 0.5)) {
      m->speed = 0;
      double passage = log_between(m, 300, 3600);
      random_walk(m, passage, between(m, 1, 6), 0.15, 60, 0.01, 0, 0, 0);
    }
  }
}

/* An animal that rests up to 2 h, grazes within an area, or walks 100 m to 3 km to another. */
static void animal(Motion *m) {
  double speed = log_between(m, 0.2, 1.2);
  while (!is_done(m)) {
    double choice = uniform(&m->random);
    if (choice < 0.35) {
      stay(m, log_between(m, 60, 7200), 0);
    } else if (choice < 0.75) {
      double seconds = log_between(m, 300, 5000), slow = speed * between(m, 0.1, 0.5);
      random_walk(m, seconds, slow, 0.7, 20, between(m, 0.2, 0.8), m->x, m->y, 0.1);
    } else {
      double away = log_between(m, 100, 3000), bearing = m->heading + normal(&m->random);
      double x = m->x + away * cos(bearing), y = m->y + away * sin(bearing);
      go_to(m, x, y, speed * between(m, 1, 2.5), 0.1);
    }
  }
}

/* A bird that perches, flies 300 m to 30 km at 8 to 20 m/s, comes back, circles, or walks. */
static void bird(Motion *m) {
  double speed = between(m, 8, 20);
  while (!is_done(m)) {
    double choice = uniform(&m->random);
    if (choice < 0.3) {
      stay(m, log_between(m, 30, 3600), 0);
    } else if (choice < 0.6) {
      double bearing = between(m, 0, 6.28), away = log_between(m, 300, 30000);
      double x = m->x + away * cos(bearing), y = m->y + away * sin(bearing);
      go_to(m, x, y, speed * between(m, 0.7, 1.2), 0.05);
    } else if (choice < 0.75) {
      go_to(m, 0, 0, speed, 0.05);
    } else if (choice < 0.9) {
      double seconds = log_between(m, 60, 1500);
      random_walk(m, seconds, 0.7 * speed, 0.3, 10, between(m, 0.05, 0.4), m->x, m->y, 0.05);
    } else {
      double seconds = log_between(m, 60, 1200);
      random_walk(m, seconds, between(m, 0.2, 0.6), 0.6, 10, 0.5, m->x, m->y, 0.1);
    }
  }
}

/* A balloon or a drifter, 0.3 to 30 m/s, with few turns. */
static void drift(Motion *m) {
  double speed = log_between(m, 0.3, 30), gust = 0, swing = 0;
  while (!is_done(m)) {
    gust += -gust / 900 + 0.4 * sqrt(2 / 900.0) * normal(&m->random);
    swing += -swing / 600 + 0.008 * sqrt(2 / 600.0) * normal(&m->random);
    m->heading += 0.1 * swing;
    m->speed = speed * exp(gust);
    advance_second(m, 1);
  }
}

/* Swimming, rowing, paddling at 0.5 to 5 m/s; three in ten back and forth on 25 m to 2 km. */
static void swim(Motion *m) {
  double speed = chance(m, 0.5) ? between(m, 0.5, 1.2) : between(m, 1.5, 5);
  double lane = chance(m, 0.3) ? between(m, 25, 2000) : 1e9, done = 0;
  while (!is_done(m)) {
    m->speed += 0.3 * (speed * exp(0.05 * normal(&m->random)) - m->speed);
    m->heading += 0.02 * normal(&m->random);
    advance_second(m, 1);
    done += m->speed;
    if (done > lane) {
      m->heading += turn_round;
      done = 0;
      if (chance(m, 0.2)) stay(m, exponential(m, 40), 0);
    }
    if (chance(m, 0.0003)) stay(m, log_between(m, 20, 600), 0);
  }
}

/* Skiing: a queue, 600 m to 3 km up at 2 to 6 m/s, then down in turns at 4 to 16 m/s. */
static void ski(Motion *m) {
  double bearing = between(m, 0, 6.28), length = log_between(m, 600, 3000);
  while (!is_done(m)) {
    stay(m, exponential(m, 150), 2);
    double x = m->x, y = m->y, phase = 0;
    go_to(m, x + length * cos(bearing), y + length * sin(bearing), between(m, 2, 6), 0);
    stay(m, exponential(m, 60), 0);
    while (hypot(x - m->x, y - m->y) > 40 && !is_done(m)) {
      phase += between(m, 0.1, 0.5);
      double angle = atan2(y - m->y, x - m->x) + sin(phase) - m->heading;
      m->heading += 0.5 * sin(angle) + (cos(angle) < 0 ? 0.5 : 0);
      m->speed += 0.2 * (between(m, 4, 16) - m->speed);
      advance_second(m, 1);
      if (chance(m, 0.004)) stay(m, exponential(m, 60), 0);
    }
    m->speed = 0;
    if (chance(m, 0.2)) stay(m, log_between(m, 300, 3600), 8);
  }
}

/* Deliveries: 80 m to 3 km by van, a few steps to a door and back. */
static void deliver(Motion *m) {
  while (!is_done(m)) {
    double leg = log_between(m, 80, 3000);
    travel(m, leg, street(m, between(m, 7, 14)));
    stay(m, between(m, 5, 40), 0);
    if (chance(m, 0.7)) {
      double to_door = between(m, 10, 60);
      travel(m, to_door, footpath(m, 1.5));
      stay(m, log_between(m, 15, 200), 0);
      double from_door = between(m, 10, 60);
      travel(m, from_door, footpath(m, 1.5));
    }
    stay(m, between(m, 5, 60), 0);
    if (chance(m, 0.05)) stay(m, log_between(m, 600, 3600), 8);
  }
}

/* A field machine: rows of 80 to 600 m, 3 to 15 m apart, at 1.5 to 5 m/s. */
static void plough(Motion *m) {
  double length = log_between(m, 80, 600), speed = between(m, 1.5, 5);
  double width = between(m, 3, 15), row = 0;
  int is_outward = 1;
  while (!is_done(m)) {
    go_to(m, is_outward ? length : 0, row, speed, 0.005);
    row += width;
    is_outward = !is_outward;
    go_to(m, is_outward ? 0 : length, row, 0.6 * speed, 0.01);
    if (chance(m, 0.05)) stay(m, log_between(m, 60, 2400), 3);
    if (row > 400) row = 0;
  }
}

/* A day of ordinary life, 5 to 14 h: stays of 5 min to 5 h, trips, errands, walks and runs. */
static void day(Motion *m) {
  double first_stay = log_between(m, 300, 14400);
  stay(m, first_stay, between(m, 0, 8));
  while (!is_done(m)) {
    double choice = uniform(&m->random), stay_time;
    if (choice < 0.5) {
      trip(m, log_between(m, 400, 30000));
      stay_time = log_between(m, 300, 18000);
      stay(m, stay_time, between(m, 0, 12));
    } else if (choice < 0.75) {
      errand(m);
      stay_time = log_between(m, 300, 9000);
      stay(m, stay_time, between(m, 0, 8));
    } else if (choice < 0.85) {
      double length = log_between(m, 500, 5000);
      travel(m, length, chance(m, 0.5) ? footpath(m, 1.3) : running_path(m, 3));
      stay(m, log_between(m, 600, 9000), 5);
    } else {
      stay_time = log_between(m, 600, 14400);
      stay(m, stay_time, between(m, 0, 12));
    }
  }
}

typedef struct {
  const char *name;
  void (*generate)(Motion *);
  int is_day;
} Kind;

static const Kind kinds[] = {
    {"walk", walk, 0},       {"run", run, 0},       {"hike", hike, 0},   {"ride", ride, 0},
    {"city drive", city_drive, 0}, {"long drive", long_drive, 0},
    {"train", train, 0},     {"tram", tram, 0},     {"sail", sail, 0},   {"anchor", anchor, 0},
    {"animal", animal, 0},   {"bird", bird, 0},     {"drift", drift, 0}, {"swim", swim, 0},
    {"ski", ski, 0},         {"deliver", deliver, 0}, {"plough", plough, 0},
    {"day", day, 1},         {"day", day, 1},       {"day", day, 1},
};

int kind_count(void) { return sizeof kinds / sizeof *kinds; }
const char *kind_name(int kind) { return kinds[kind].name; }
int kind_is_day(int kind) { return kinds[kind].is_day; }

/* Writes at most `limit` seconds of a track of that kind; returns the number of seconds. */
int make_track(int kind, uint64_t seed, int limit, double *east, double *north, double *speed,
               uint8_t *is_moving) {
  Motion m = {.limit = limit, .east = east, .north = north, .is_moving = is_moving};
  m.random.state = seed * 0x9E3779B97F4A7C15ull + kind * 7919;
  for (int i = 0; i < 5; i++) uniform(&m.random);
  m.heading = between(&m, 0, 6.283);
  record_position(&m, 0);
  double hours = between(&m, 0.7, 3.5);
  if (kinds[kind].is_day) hours = between(&m, 5, 14);
  if (hours * 3600 < limit) m.limit = (int)(hours * 3600);
  if (!kinds[kind].is_day && chance(&m, 0.3)) stay(&m, exponential(&m, 200), 0);
  kinds[kind].generate(&m);
  speed[0] = 0;
  for (int i = 1; i < m.count; i++) {
    speed[i] = hypot(east[i] - east[i - 1], north[i] - north[i - 1]);
  }
  add_position_errors(&m, kinds[kind].is_day);
  convert_to_motion_line(&m);
  return m.count;
}
