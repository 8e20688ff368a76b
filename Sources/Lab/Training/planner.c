#include "planner.h"

#include <math.h>
#include <string.h>

static const double mean_times[4] = {30, 120, 480, 1800};
static const double peak_times[3] = {60, 300, 1800};
static const double circles[3] = {0.35, 1, 3};
static const double standing = 0.6; /* a wearer slower than this stands, m/s */
static const double longest = 7200;

/* In units of planner->unit; the network tells the chance of being outside within each. */
const double exit_bins[EXIT_BINS + 1] = {0,   0.2, 0.35, 0.5,  0.6, 0.7, 0.8, 0.9, 1.0,
                                         1.12, 1.25, 1.4, 1.6, 1.85, 2.2, 2.7, 3.4, 4.5,
                                         6,   8.5, 12,   18,   28,  45,  80};

double search_time(const Profile *profile, double off) {
  if (off <= profile->off[0]) return profile->search[0];
  for (int i = 1; i < profile->points; i++) {
    if (off > profile->off[i]) continue;
    double part = (off - profile->off[i - 1]) / (profile->off[i] - profile->off[i - 1]);
    return profile->search[i - 1] + (profile->search[i] - profile->search[i - 1]) * part;
  }
  return profile->search[profile->points - 1];
}

void planner_begin(Planner *planner, const Profile *profile, const Network *network,
                   const Tuning *tuning, double bound, int has_line) {
  memset(planner, 0, sizeof *planner);
  planner->profile = profile;
  planner->network = network;
  planner->tuning = *tuning;
  planner->bound = bound;
  planner->has_line = has_line;
  planner->off = -1;
  planner->step = 1;
}

double planner_room(const Planner *planner) {
  return fmax(planner->bound - 0.5 * planner->last.accuracy, 0.3 * planner->bound);
}

/* ---- What is remembered ---- */

static void set_anchor(Planner *p, int i, const Sighting *seen) {
  p->anchor_east[i] = seen->east;
  p->anchor_north[i] = seen->north;
  p->anchor_time[i] = seen->time;
}

static void begin(Planner *p, const Sighting *seen) {
  p->start = seen->time;
  p->speed_before = seen->speed;
  for (int i = 0; i < 4; i++) p->mean[i] = seen->speed;
  for (int i = 0; i < 3; i++) {
    p->fastest[i] = seen->speed;
    set_anchor(p, i, seen);
  }
  p->moving_at = p->standing_at = seen->time;
  p->moving_share = p->long_moving_share = seen->speed > standing;
  p->short_motion = p->long_motion = seen->is_moving;
}

/* How the cycle that this fix ended went. */
static void book(Planner *p) {
  if (p->off <= 0) {
    p->energy += p->profile->track * p->step;
  } else {
    double search = search_time(p->profile, p->step - 1);
    double off = p->step - 1 - search;
    if (off < 0) {
      off = 0;
      search = p->step - 1;
    }
    p->energy += p->profile->track + p->profile->standby * off + p->profile->acquire * search;
  }
  p->time += p->step;
  /* On a straight run the share of the cycle that lay beyond the distance. */
  if (p->moved > p->bound) p->outside += (1 - p->bound / p->moved) * (p->step - 1);
}

static void follow_speed(Planner *p, const Sighting *seen) {
  double over = p->moved / p->step;
  for (int i = 0; i < 4; i++) {
    double decay = exp(-p->step / mean_times[i]);
    double gain = mean_times[i] * (1 - decay) / p->step;
    p->mean[i] = over + (p->mean[i] - over) * decay;
    p->east_drift[i] = p->east_moved * gain + p->east_drift[i] * decay;
    p->north_drift[i] = p->north_moved * gain + p->north_drift[i] * decay;
  }
  double fast = fmax(seen->speed, over);
  for (int i = 0; i < 3; i++) {
    p->fastest[i] = fmax(fast, p->fastest[i] * exp(-p->step / peak_times[i]));
  }
  if (fast > standing) p->moving_at = seen->time;
  if (seen->speed < standing) p->standing_at = seen->time;
  double moving = fast > standing;
  p->moving_share = moving + (p->moving_share - moving) * exp(-p->step / 600);
  p->long_moving_share = moving + (p->long_moving_share - moving) * exp(-p->step / 3600);
}

static void follow_place(Planner *p, const Sighting *seen) {
  for (int i = 0; i < 3; i++) {
    double away = hypot(seen->east - p->anchor_east[i], seen->north - p->anchor_north[i]);
    if (away > fmax(circles[i] * p->bound, 2.5 * seen->accuracy)) set_anchor(p, i, seen);
  }
  p->excess += 0.15 * (fmin(p->moved / p->bound, 2) - p->excess);
}

static void follow_line(Planner *p, const Sighting *seen) {
  p->motion_share = fmin(seen->motion / p->step, 1);
  p->short_motion = p->motion_share + (p->short_motion - p->motion_share) * exp(-p->step / 120);
  p->long_motion = p->motion_share + (p->long_motion - p->motion_share) * exp(-p->step / 1200);
}

static void go_on(Planner *p, const Sighting *seen) {
  double moved_before = p->moved, east_before = p->east_moved, north_before = p->north_moved;
  p->speed_before = p->last.speed;
  p->step = fmax(seen->time - p->last.time, 0.5);
  p->east_moved = seen->east - p->last.east;
  p->north_moved = seen->north - p->last.north;
  p->moved = hypot(p->east_moved, p->north_moved);
  p->turn = 0;
  if (p->moved > 1e-9 && moved_before > 1e-9) {
    p->turn = (p->east_moved * east_before + p->north_moved * north_before) /
              (p->moved * moved_before);
  }
  book(p);
  follow_speed(p, seen);
  follow_place(p, seen);
  follow_line(p, seen);
}

static void take(Planner *p, const Sighting *seen) {
  if (p->count == 0) {
    begin(p, seen);
  } else {
    go_on(p, seen);
  }
  p->count++;
  p->last = *seen;
  double pace = fmax(seen->speed, p->count > 1 ? p->moved / p->step : seen->speed);
  pace = fmax(pace, 0.5 * p->fastest[1]);
  pace = fmax(pace, 0.25 * p->fastest[2]);
  p->pace = fmax(pace, 0.4);
  p->unit = planner_room(p) / p->pace;
  p->trust = fmin(longest, fmax(300, seen->time - p->anchor_time[0]));
}

/* ---- What the network is told, and tells ---- */

/* Every feature is a logarithm of a ratio to the distance, to the pace, or to their time, so that
   one network serves every distance and every way of moving. */
static void set_features(Planner *p) {
  double *f = p->features, now = p->last.time, log_pace = log(p->pace);
  double over = p->count > 1 ? p->moved / p->step : p->last.speed;
  f[0] = log(p->bound);
  f[1] = log(p->unit);
  f[2] = log(p->last.speed + 0.1) - log_pace;
  f[3] = log(p->speed_before + 0.1) - log_pace;
  f[4] = log(over + 0.1) - log_pace;
  for (int i = 0; i < 3; i++) f[5 + i] = log(p->fastest[i] + 0.1) - log_pace;
  for (int i = 0; i < 4; i++) {
    f[8 + i] = log(p->mean[i] + 0.1) - log_pace;
    f[12 + i] = log(0.05 + hypot(p->east_drift[i], p->north_drift[i]) / p->bound);
  }
  for (int i = 0; i < 3; i++) f[16 + i] = log((now - p->anchor_time[i] + 2) / p->unit);
  f[19] = log(p->step / p->unit);
  f[20] = log(0.03 + p->moved / p->bound);
  f[21] = log((now - p->moving_at + 2) / p->unit);
  f[22] = log((now - p->standing_at + 2) / p->unit);
  f[23] = p->moving_share;
  f[24] = p->long_moving_share;
  f[25] = log(now - p->start + 2);
  f[26] = log(0.03 + p->last.accuracy / p->bound);
  f[27] = p->excess;
  f[28] = p->turn;
  f[29] = (p->last.speed - p->speed_before) / p->pace * (p->step < 5 ? 1 : 5 / p->step);
  f[30] = log_pace;
  if (!p->has_line) return;
  f[31] = p->last.is_moving;
  f[32] = p->motion_share;
  f[33] = p->short_motion;
  f[34] = p->long_motion;
  f[35] = log((p->last.since_change + 2) / p->unit) * (p->last.is_moving ? 1 : -1);
}

static void layer(const float *in, int inputs, const float *weights, const float *biases,
                  int outputs, float *out) {
  for (int j = 0; j < outputs; j++) {
    float sum = biases[j];
    for (int i = 0; i < inputs; i++) sum += weights[j * inputs + i] * in[i];
    out[j] = sum;
  }
}

static void leak(float *values, int count) {
  for (int i = 0; i < count; i++) {
    if (values[i] < 0) values[i] *= 0.05f;
  }
}

static void set_chances(Planner *p) {
  const Network *net = p->network;
  float in[LINE_FEATURES], a[HIDDEN_1], b[HIDDEN_2], out[EXIT_BINS];
  for (int i = 0; i < net->features; i++) {
    in[i] = fminf(fmaxf(((float)p->features[i] - net->mean[i]) * net->scale[i], -4), 4);
  }
  layer(in, net->features, net->weights_1, net->biases_1, HIDDEN_1, a);
  leak(a, HIDDEN_1);
  layer(a, HIDDEN_1, net->weights_2, net->biases_2, HIDDEN_2, b);
  leak(b, HIDDEN_2);
  layer(b, HIDDEN_2, net->weights_3, net->biases_3, EXIT_BINS, out);
  for (int i = 0; i < EXIT_BINS; i++) p->chances[i] = 1 / (1 + exp(-(double)out[i]));
}

/* ---- The decision ---- */

/* What a second outside costs, mW: so many times what a second costs anyhow, and more where it has
   happened too often (0.3 % of the time, judged over 30 min and more). */
static double price_outside(const Planner *p) {
  const Tuning *tuning = &p->tuning;
  double mean = (p->energy + tuning->prior_energy) / (p->time + tuning->prior_time);
  double excess = (p->outside + 0.003 * 1800) / (0.003 * (p->time + 1800));
  excess = fmin(fmax(excess, 0.6), 5);
  return fmax(tuning->price * mean * pow(excess, tuning->guard), tuning->least_price);
}

/* Seconds outside by `time` after the fix, asked in rising order of time. The chance runs straight
   between the middles of the bins, from 0 at the fix, and stays as it is after the last. */
typedef struct {
  const Planner *planner;
  int bin;
  double sum, last_time, last_chance;
} Risk;

static double middle(const Planner *p, int bin) {
  return 0.5 * (exit_bins[bin] + exit_bins[bin + 1]) * p->unit;
}

static double seconds_outside(Risk *risk, double time) {
  const Planner *p = risk->planner;
  while (risk->bin < EXIT_BINS && middle(p, risk->bin) < time) {
    double next = middle(p, risk->bin);
    risk->sum += 0.5 * (risk->last_chance + p->chances[risk->bin]) * (next - risk->last_time);
    risk->last_chance = p->chances[risk->bin];
    risk->last_time = next;
    risk->bin++;
  }
  double chance = risk->last_chance;
  if (risk->bin < EXIT_BINS) {
    double part = (time - risk->last_time) / (middle(p, risk->bin) - risk->last_time);
    chance += (p->chances[risk->bin] - risk->last_chance) * part;
  }
  return risk->sum + 0.5 * (risk->last_chance + chance) * (time - risk->last_time);
}

/* The choices: 0 (stay on), 1 to 20 s, then each 7 % longer, to two hours. */
static double next_choice(double off) {
  if (off < 20) return off + 1;
  if (off >= longest) return INFINITY;
  return fmin(fmax(round(off * 1.07), off + 1), longest);
}

/* Of all choices the one with the least J = (energy + price × seconds outside) ÷ cycle. */
static double cheapest(const Planner *p) {
  const Profile *profile = p->profile;
  double speed = p->last.speed, room = planner_room(p), price = price_outside(p);
  int is_still = p->has_line && !p->last.is_moving, is_first = p->count <= p->tuning.first_fixes;
  double longest_run = room * (is_first ? p->tuning.first_run_limit : p->tuning.run_limit);
  double best = 0, least = INFINITY;
  Risk risk = {.planner = p};
  for (double off = is_still ? 1 : 0; off <= longest; off = next_choice(off)) {
    /* While the line says still nobody knows how long the off will be. */
    double known = is_still && off < 600 ? 600 : off;
    double search = off > 0 ? search_time(profile, known) : 0;
    double ahead = off + search; /* the second of the next fix is true again */
    double outside = seconds_outside(&risk, ahead);
    if (p->has_line) outside /= p->tuning.standing_rate;
    /* No network is trusted so far against what the receiver itself says of the speed. */
    if (speed * ahead > longest_run) break;
    /* Nobody can have left who would have to accelerate harder than this. */
    if (speed * ahead + 0.5 * p->tuning.acceleration * ahead * ahead < room) outside = 0;
    double spent = profile->track + profile->standby * off + profile->acquire * search;
    double cost = (spent + price * outside) / (1 + ahead);
    if (cost < least) {
      least = cost;
      best = off;
    }
  }
  return best;
}

double planner_off(Planner *planner, const Sighting *seen) {
  take(planner, seen);
  set_features(planner);
  if (planner->tuning.policy == NETWORK) {
    set_chances(planner);
    planner->off = cheapest(planner);
  } else {
    planner->off = baseline_off(planner);
  }
  return planner->off;
}
