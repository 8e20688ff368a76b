/* Twenty kinds of generated tracks, at one second: made up, seeded, of nobody.
   Ranges are even ("between") or even in the logarithm ("log_between"); metres, seconds, m/s.
   No expression draws two random numbers, for C does not say which would come first. */
#include "wearer.h"

static const double turn_round = 3.1416;

/* On foot: legs of 200 m to 4 km, pauses of 20 s to 25 min, sometimes back the same way. */
static void walk(Wearer *w) {
  double speed = between(w, 1, 1.7);
  while (!is_done(w)) {
    double leg = log_between(w, 200, 4000);
    travel(w, leg, footpath(w, speed));
    if (chance(w, 0.7)) {
      double pause = log_between(w, 20, 1500);
      rest(w, pause, between(w, 0, 8));
    }
    if (chance(w, 0.3)) w->heading += turn_round;
  }
}

/* Laps of an oval of 36 to 200 m. */
static void laps(Wearer *w, double speed) {
  double radius = between(w, 36, 200), angle = 0;
  while (!is_done(w)) {
    angle += speed * exp(0.05 * normal(&w->random)) / radius;
    w->x = radius * cos(angle);
    w->y = 1.6 * radius * sin(angle);
    stay(w, 1);
    if (chance(w, 0.0005)) rest(w, exponential(w, 120), 0);
  }
}

/* A run at 2 to 4.5 m/s, one in four on a lap; now and then a pause or a piece at a walk. */
static void run(Wearer *w) {
  double speed = between(w, 2, 4.5);
  if (chance(w, 0.25)) return laps(w, speed);
  while (!is_done(w)) {
    double leg = log_between(w, 500, 8000);
    travel(w, leg, running_path(w, speed));
    if (chance(w, 0.5)) rest(w, exponential(w, 60), 0);
    if (chance(w, 0.3)) {
      double piece = exponential(w, 300);
      travel(w, piece, footpath(w, 1.4));
    }
    if (chance(w, 0.4)) w->heading += turn_round;
  }
}

/* A hike at 0.6 to 1.5 m/s on winding trails, rests of 30 s to 40 min. */
static void hike(Wearer *w) {
  double speed = between(w, 0.6, 1.5);
  while (!is_done(w)) {
    double leg = log_between(w, 300, 5000);
    travel(w, leg, trail(w, speed * between(w, 0.7, 1.2)));
    double pause = log_between(w, 30, 2400);
    rest(w, pause, chance(w, 0.5) ? 5 : 0);
  }
}

/* A bicycle at 3.5 to 8.5 m/s, pauses of 30 s to 30 min. */
static void ride(Wearer *w) {
  double speed = between(w, 3.5, 8.5);
  while (!is_done(w)) {
    double leg = log_between(w, 1000, 20000);
    travel(w, leg, cycle_path(w, speed * between(w, 0.8, 1.15)));
    if (chance(w, 0.4)) {
      double pause = log_between(w, 30, 1800);
      rest(w, pause, between(w, 0, 5));
    }
  }
}

/* A car in town at 8 to 17 m/s: lights, jams, and errands on foot between. */
static void city_drive(Wearer *w) {
  double speed = between(w, 8, 17);
  while (!is_done(w)) {
    if (chance(w, 0.2)) {
      double queue = between(w, 200, 2500);
      travel(w, queue, jam(w));
    } else {
      double leg = log_between(w, 800, 12000);
      travel(w, leg, street(w, speed));
    }
    if (!chance(w, 0.3)) continue;
    rest(w, between(w, 5, 60), 0);
    if (chance(w, 0.7)) {
      errand(w);
    } else {
      rest(w, log_between(w, 60, 2400), 0);
    }
  }
}

/* A car over land: streets, then 5 to 60 km of country road or motorway. */
static void long_drive(Wearer *w) {
  while (!is_done(w)) {
    double out = log_between(w, 500, 3000);
    travel(w, out, street(w, between(w, 8, 14)));
    double leg = log_between(w, 5000, 60000);
    if (chance(w, 0.5)) {
      travel(w, leg, country_road(w, between(w, 13, 26)));
    } else {
      travel(w, leg, motorway(w, between(w, 20, 38)));
    }
    if (chance(w, 0.15)) {
      double queue = between(w, 500, 4000);
      travel(w, queue, jam(w));
    }
    if (chance(w, 0.3)) rest(w, log_between(w, 60, 2400), 5);
  }
}

/* Trains at 15 to 80 m/s, stations each 2.5 to 50 km. */
static void train(Wearer *w) {
  while (!is_done(w)) {
    int stations = 2 + (int)(even(&w->random) * 8);
    double speed = between(w, 15, 80), spacing = log_between(w, 2500, 50000);
    ride_train(w, stations, speed, spacing, between(w, 30, 150));
  }
}

/* Trams and underground at 8 to 20 m/s, then a walk and a stay. */
static void tram(Wearer *w) {
  while (!is_done(w)) {
    int stations = 5 + (int)(even(&w->random) * 15);
    double speed = between(w, 8, 20), spacing = between(w, 300, 1800);
    ride_train(w, stations, speed, spacing, between(w, 12, 40));
    double on_foot = log_between(w, 100, 1200);
    travel(w, on_foot, footpath(w, 1.4));
    double pause = log_between(w, 60, 2000);
    rest(w, pause, between(w, 0, 10));
  }
}

/* One tack of a sailing boat: it comes about, then keeps its course. */
static void tack(Wearer *w, double course, double seconds, double speed) {
  double gust = 0;
  for (int i = 0; i < seconds && !is_done(w); i++) {
    double turn = sin(course - w->heading);
    if (cos(course - w->heading) < 0) turn = turn > 0 ? 1 : -1;
    w->heading += 0.12 * turn + 0.015 * normal(&w->random);
    gust += -gust / 60 + 0.2 * sqrt(2 / 60.0) * normal(&w->random);
    double wanted = speed * exp(gust) * (fabs(turn) > 0.5 ? 0.5 : 1);
    w->speed += 0.1 * (wanted - w->speed);
    go(w, 1);
  }
}

/* Sailing at 1 to 7 m/s: beats of up to eight tacks of 1 to 25 min, free legs, lulls. */
static void sail(Wearer *w) {
  double wind = between(w, 0, 6.283), speed = log_between(w, 1, 6);
  while (!is_done(w)) {
    double leg = log_between(w, 60, 1500), course;
    int tacks = 1;
    if (chance(w, 0.6)) {
      double side = chance(w, 0.5) ? 1 : -1;
      course = wind + side * between(w, 0.7, 0.9);
      tacks = 1 + (int)(even(&w->random) * 8);
    } else {
      course = between(w, 0, 6.283);
    }
    for (int i = 0; i < tacks && !is_done(w); i++) {
      tack(w, course, leg, speed);
      course = 2 * wind - course;
      leg *= between(w, 0.6, 1.5);
    }
    if (chance(w, 0.15)) {
      double lull = log_between(w, 60, 1200);
      wander(w, lull, between(w, 0.1, 0.5), 0.3, 60, 0.1, 0, 0, 0);
    }
    if (chance(w, 0.1)) speed = log_between(w, 1, 7);
  }
}

/* At anchor for 20 min to 3 h, swinging on 8 to 60 m of chain; half the time off again after. */
static void anchor(Wearer *w) {
  while (!is_done(w)) {
    double chain = log_between(w, 8, 60), angle = between(w, 0, 6.28), swing = 0;
    double x = w->x - chain * cos(angle), y = w->y - chain * sin(angle);
    double seconds = log_between(w, 1200, 12000), period = log_between(w, 60, 600);
    for (int i = 0; i < seconds && !is_done(w); i++) {
      swing += -swing / period + 0.5 / period * sqrt(2 / period) * normal(&w->random);
      angle += swing;
      double radius = chain * (0.85 + 0.1 * sin(i / period)), pull = 0.1 * fmin(1, i / 120.0);
      w->x += pull * (x + radius * cos(angle) - w->x);
      w->y += pull * (y + radius * sin(angle) - w->y);
      stay(w, 1);
    }
    if (chance(w, 0.5)) {
      w->speed = 0;
      double passage = log_between(w, 300, 3600);
      wander(w, passage, between(w, 1, 6), 0.15, 60, 0.01, 0, 0, 0);
    }
  }
}

/* An animal that rests up to 2 h, grazes within an area, or walks 100 m to 3 km to another. */
static void animal(Wearer *w) {
  double speed = log_between(w, 0.2, 1.2);
  while (!is_done(w)) {
    double what = even(&w->random);
    if (what < 0.35) {
      rest(w, log_between(w, 60, 7200), 0);
    } else if (what < 0.75) {
      double seconds = log_between(w, 300, 5000), slow = speed * between(w, 0.1, 0.5);
      wander(w, seconds, slow, 0.7, 20, between(w, 0.2, 0.8), w->x, w->y, 0.1);
    } else {
      double away = log_between(w, 100, 3000), way = w->heading + normal(&w->random);
      double x = w->x + away * cos(way), y = w->y + away * sin(way);
      go_to(w, x, y, speed * between(w, 1, 2.5), 0.1);
    }
  }
}

/* A bird that perches, flies 300 m to 30 km at 8 to 20 m/s, comes back, circles, or walks. */
static void bird(Wearer *w) {
  double speed = between(w, 8, 20);
  while (!is_done(w)) {
    double what = even(&w->random);
    if (what < 0.3) {
      rest(w, log_between(w, 30, 3600), 0);
    } else if (what < 0.6) {
      double way = between(w, 0, 6.28), away = log_between(w, 300, 30000);
      double x = w->x + away * cos(way), y = w->y + away * sin(way);
      go_to(w, x, y, speed * between(w, 0.7, 1.2), 0.05);
    } else if (what < 0.75) {
      go_to(w, 0, 0, speed, 0.05);
    } else if (what < 0.9) {
      double seconds = log_between(w, 60, 1500);
      wander(w, seconds, 0.7 * speed, 0.3, 10, between(w, 0.05, 0.4), w->x, w->y, 0.05);
    } else {
      double seconds = log_between(w, 60, 1200);
      wander(w, seconds, between(w, 0.2, 0.6), 0.6, 10, 0.5, w->x, w->y, 0.1);
    }
  }
}

/* A balloon or a drifter, 0.3 to 30 m/s, hardly ever turning. */
static void drift(Wearer *w) {
  double speed = log_between(w, 0.3, 30), gust = 0, swing = 0;
  while (!is_done(w)) {
    gust += -gust / 900 + 0.4 * sqrt(2 / 900.0) * normal(&w->random);
    swing += -swing / 600 + 0.008 * sqrt(2 / 600.0) * normal(&w->random);
    w->heading += 0.1 * swing;
    w->speed = speed * exp(gust);
    go(w, 1);
  }
}

/* Swimming, rowing, paddling at 0.5 to 5 m/s; three in ten to and fro on 25 m to 2 km. */
static void swim(Wearer *w) {
  double speed = chance(w, 0.5) ? between(w, 0.5, 1.2) : between(w, 1.5, 5);
  double lane = chance(w, 0.3) ? between(w, 25, 2000) : 1e9, done = 0;
  while (!is_done(w)) {
    w->speed += 0.3 * (speed * exp(0.05 * normal(&w->random)) - w->speed);
    w->heading += 0.02 * normal(&w->random);
    go(w, 1);
    done += w->speed;
    if (done > lane) {
      w->heading += turn_round;
      done = 0;
      if (chance(w, 0.2)) rest(w, exponential(w, 40), 0);
    }
    if (chance(w, 0.0003)) rest(w, log_between(w, 20, 600), 0);
  }
}

/* Skiing: a queue, 600 m to 3 km up at 2 to 6 m/s, then down in turns at 4 to 16 m/s. */
static void ski(Wearer *w) {
  double way = between(w, 0, 6.28), length = log_between(w, 600, 3000);
  while (!is_done(w)) {
    rest(w, exponential(w, 150), 2);
    double x = w->x, y = w->y, phase = 0;
    go_to(w, x + length * cos(way), y + length * sin(way), between(w, 2, 6), 0);
    rest(w, exponential(w, 60), 0);
    while (hypot(x - w->x, y - w->y) > 40 && !is_done(w)) {
      phase += between(w, 0.1, 0.5);
      double angle = atan2(y - w->y, x - w->x) + sin(phase) - w->heading;
      w->heading += 0.5 * sin(angle) + (cos(angle) < 0 ? 0.5 : 0);
      w->speed += 0.2 * (between(w, 4, 16) - w->speed);
      go(w, 1);
      if (chance(w, 0.004)) rest(w, exponential(w, 60), 0);
    }
    w->speed = 0;
    if (chance(w, 0.2)) rest(w, log_between(w, 300, 3600), 8);
  }
}

/* Deliveries: 80 m to 3 km by van, a few steps to a door and back. */
static void deliver(Wearer *w) {
  while (!is_done(w)) {
    double leg = log_between(w, 80, 3000);
    travel(w, leg, street(w, between(w, 7, 14)));
    rest(w, between(w, 5, 40), 0);
    if (chance(w, 0.7)) {
      double there = between(w, 10, 60);
      travel(w, there, footpath(w, 1.5));
      rest(w, log_between(w, 15, 200), 0);
      double back = between(w, 10, 60);
      travel(w, back, footpath(w, 1.5));
    }
    rest(w, between(w, 5, 60), 0);
    if (chance(w, 0.05)) rest(w, log_between(w, 600, 3600), 8);
  }
}

/* A field machine: rows of 80 to 600 m, 3 to 15 m apart, at 1.5 to 5 m/s. */
static void plough(Wearer *w) {
  double length = log_between(w, 80, 600), speed = between(w, 1.5, 5);
  double width = between(w, 3, 15), row = 0;
  int is_outward = 1;
  while (!is_done(w)) {
    go_to(w, is_outward ? length : 0, row, speed, 0.005);
    row += width;
    is_outward = !is_outward;
    go_to(w, is_outward ? 0 : length, row, 0.6 * speed, 0.01);
    if (chance(w, 0.05)) rest(w, log_between(w, 60, 2400), 3);
    if (row > 400) row = 0;
  }
}

/* A day of ordinary life, 5 to 14 h: stays of 5 min to 5 h, trips, errands, walks and runs. */
static void day(Wearer *w) {
  double before = log_between(w, 300, 14400);
  rest(w, before, between(w, 0, 8));
  while (!is_done(w)) {
    double what = even(&w->random), stay_time;
    if (what < 0.5) {
      trip(w, log_between(w, 400, 30000));
      stay_time = log_between(w, 300, 18000);
      rest(w, stay_time, between(w, 0, 12));
    } else if (what < 0.75) {
      errand(w);
      stay_time = log_between(w, 300, 9000);
      rest(w, stay_time, between(w, 0, 8));
    } else if (what < 0.85) {
      double length = log_between(w, 500, 5000);
      travel(w, length, chance(w, 0.5) ? footpath(w, 1.3) : running_path(w, 3));
      rest(w, log_between(w, 600, 9000), 5);
    } else {
      stay_time = log_between(w, 600, 14400);
      rest(w, stay_time, between(w, 0, 12));
    }
  }
}

typedef struct {
  const char *name;
  void (*lead)(Wearer *);
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

/* Writes at most `most` seconds of a track of that kind; gives how many. */
int make_track(int kind, uint64_t seed, int most, double *east, double *north, double *speed,
               uint8_t *is_moving) {
  Wearer w = {.limit = most, .east = east, .north = north, .is_moving = is_moving};
  w.random.state = seed * 0x9E3779B97F4A7C15ull + kind * 7919;
  for (int i = 0; i < 5; i++) even(&w.random);
  w.heading = between(&w, 0, 6.283);
  stay(&w, 0);
  double hours = between(&w, 0.7, 3.5);
  if (kinds[kind].is_day) hours = between(&w, 5, 14);
  if (hours * 3600 < most) w.limit = (int)(hours * 3600);
  if (!kinds[kind].is_day && chance(&w, 0.3)) rest(&w, exponential(&w, 200), 0);
  kinds[kind].lead(&w);
  speed[0] = 0;
  for (int i = 1; i < w.count; i++) {
    speed[i] = hypot(east[i] - east[i - 1], north[i] - north[i - 1]);
  }
  record(&w, kinds[kind].is_day);
  watch(&w);
  return w.count;
}
