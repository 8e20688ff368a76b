#include "planner.h"

#include <math.h>
#include <string.h>

static const double mean_times[4] = {30, 120, 480, 1800};
static const double peak_times[3] = {60, 300, 1800};
static const double anchor_radii[3] = {0.35, 1, 3};
static const double standing_speed = 0.6; /* speed below which a device is stationary, m/s */
static const double longest_off = 7200;

/* In units of planner->time_scale; the network computes the probability of being outside within each bin. */
const double exit_bins[EXIT_BINS + 1] = {0,   0.2, 0.35, 0.5,  0.6, 0.7, 0.8, 0.9, 1.0,
                                         1.12, 1.25, 1.4, 1.6, 1.85, 2.2, 2.7, 3.4, 4.5,
                                         6,   8.5, 12,   18,   28,  45,  80};

double acquisition_time(const Profile *profile, double off) {
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
  planner->off_time = -1;
  planner->time_step = 1;
}

double distance_margin(const Planner *planner) {
  return fmax(planner->bound - 0.5 * planner->last.accuracy, 0.3 * planner->bound);
}

/* ---- State ---- */

static void set_anchor(Planner *p, int i, const FixSample *sample) {
  p->anchor_east[i] = sample->east;
  p->anchor_north[i] = sample->north;
  p->anchor_time[i] = sample->time;
}

static void reset(Planner *p, const FixSample *sample) {
  p->start_time = sample->time;
  p->previous_speed = sample->speed;
  for (int i = 0; i < 4; i++) p->mean_speed[i] = sample->speed;
  for (int i = 0; i < 3; i++) {
    p->peak_speed[i] = sample->speed;
    set_anchor(p, i, sample);
  }
  p->last_moving_time = p->last_standing_time = sample->time;
  p->moving_share = p->long_moving_share = sample->speed > standing_speed;
  p->short_motion_share = p->long_motion_share = sample->is_moving;
}

/* Records energy and time of the cycle that this fix ended. */
static void record_cycle(Planner *p) {
  if (p->off_time <= 0) {
    p->energy += p->profile->track * p->time_step;
  } else {
    double search = acquisition_time(p->profile, p->time_step - 1);
    double off = p->time_step - 1 - search;
    if (off < 0) {
      off = 0;
      search = p->time_step - 1;
    }
    p->energy += p->profile->track + p->profile->standby * off + p->profile->acquire * search;
  }
  p->time += p->time_step;
  /* For straight motion: the share of the cycle in which the device was beyond the bound. */
  if (p->displacement > p->bound) p->outside_time += (1 - p->bound / p->displacement) * (p->time_step - 1);
}

static void update_speeds(Planner *p, const FixSample *sample) {
  double over = p->displacement / p->time_step;
  for (int i = 0; i < 4; i++) {
    double decay = exp(-p->time_step / mean_times[i]);
    double gain = mean_times[i] * (1 - decay) / p->time_step;
    p->mean_speed[i] = over + (p->mean_speed[i] - over) * decay;
    p->east_drift[i] = p->east_displacement * gain + p->east_drift[i] * decay;
    p->north_drift[i] = p->north_displacement * gain + p->north_drift[i] * decay;
  }
  double fast = fmax(sample->speed, over);
  for (int i = 0; i < 3; i++) {
    p->peak_speed[i] = fmax(fast, p->peak_speed[i] * exp(-p->time_step / peak_times[i]));
  }
  if (fast > standing_speed) p->last_moving_time = sample->time;
  if (sample->speed < standing_speed) p->last_standing_time = sample->time;
  double moving = fast > standing_speed;
  p->moving_share = moving + (p->moving_share - moving) * exp(-p->time_step / 600);
  p->long_moving_share = moving + (p->long_moving_share - moving) * exp(-p->time_step / 3600);
}

static void update_anchors(Planner *p, const FixSample *sample) {
  for (int i = 0; i < 3; i++) {
    double away = hypot(sample->east - p->anchor_east[i], sample->north - p->anchor_north[i]);
    if (away > fmax(anchor_radii[i] * p->bound, 2.5 * sample->accuracy)) set_anchor(p, i, sample);
  }
  p->mean_displacement_ratio += 0.15 * (fmin(p->displacement / p->bound, 2) - p->mean_displacement_ratio);
}

static void update_motion_shares(Planner *p, const FixSample *sample) {
  p->motion_share = fmin(sample->motion / p->time_step, 1);
  p->short_motion_share = p->motion_share + (p->short_motion_share - p->motion_share) * exp(-p->time_step / 120);
  p->long_motion_share = p->motion_share + (p->long_motion_share - p->motion_share) * exp(-p->time_step / 1200);
}

static void update(Planner *p, const FixSample *sample) {
  double previous_displacement = p->displacement;
  double previous_east = p->east_displacement, previous_north = p->north_displacement;
  p->previous_speed = p->last.speed;
  p->time_step = fmax(sample->time - p->last.time, 0.5);
  p->east_displacement = sample->east - p->last.east;
  p->north_displacement = sample->north - p->last.north;
  p->displacement = hypot(p->east_displacement, p->north_displacement);
  p->turn_cosine = 0;
  if (p->displacement > 1e-9 && previous_displacement > 1e-9) {
    p->turn_cosine = (p->east_displacement * previous_east + p->north_displacement * previous_north) /
              (p->displacement * previous_displacement);
  }
  record_cycle(p);
  update_speeds(p, sample);
  update_anchors(p, sample);
  update_motion_shares(p, sample);
}

static void accept(Planner *p, const FixSample *sample) {
  if (p->fix_count == 0) {
    reset(p, sample);
  } else {
    update(p, sample);
  }
  p->fix_count++;
  p->last = *sample;
  double speed = fmax(sample->speed, p->fix_count > 1 ? p->displacement / p->time_step : sample->speed);
  speed = fmax(speed, 0.5 * p->peak_speed[1]);
  speed = fmax(speed, 0.25 * p->peak_speed[2]);
  p->recent_speed = fmax(speed, 0.4);
  p->time_scale = distance_margin(p) / p->recent_speed;
  p->pause_limit = fmin(longest_off, fmax(300, sample->time - p->anchor_time[0]));
}

/* ---- Network ---- */

/* Each feature is the logarithm of a ratio to the distance, to the recent speed, or to the quotient of both, so that
   one network serves every distance and every kind of motion. */
static void set_features(Planner *p) {
  double *f = p->features, now = p->last.time, log_speed = log(p->recent_speed);
  double over = p->fix_count > 1 ? p->displacement / p->time_step : p->last.speed;
  f[0] = log(p->bound);
  f[1] = log(p->time_scale);
  f[2] = log(p->last.speed + 0.1) - log_speed;
  f[3] = log(p->previous_speed + 0.1) - log_speed;
  f[4] = log(over + 0.1) - log_speed;
  for (int i = 0; i < 3; i++) f[5 + i] = log(p->peak_speed[i] + 0.1) - log_speed;
  for (int i = 0; i < 4; i++) {
    f[8 + i] = log(p->mean_speed[i] + 0.1) - log_speed;
    f[12 + i] = log(0.05 + hypot(p->east_drift[i], p->north_drift[i]) / p->bound);
  }
  for (int i = 0; i < 3; i++) f[16 + i] = log((now - p->anchor_time[i] + 2) / p->time_scale);
  f[19] = log(p->time_step / p->time_scale);
  f[20] = log(0.03 + p->displacement / p->bound);
  f[21] = log((now - p->last_moving_time + 2) / p->time_scale);
  f[22] = log((now - p->last_standing_time + 2) / p->time_scale);
  f[23] = p->moving_share;
  f[24] = p->long_moving_share;
  f[25] = log(now - p->start_time + 2);
  f[26] = log(0.03 + p->last.accuracy / p->bound);
  f[27] = p->mean_displacement_ratio;
  f[28] = p->turn_cosine;
  f[29] = (p->last.speed - p->previous_speed) / p->recent_speed * (p->time_step < 5 ? 1 : 5 / p->time_step);
  f[30] = log_speed;
  if (!p->has_line) return;
  f[31] = p->last.is_moving;
  f[32] = p->motion_share;
  f[33] = p->short_motion_share;
  f[34] = p->long_motion_share;
  f[35] = log((p->last.since_change + 2) / p->time_scale) * (p->last.is_moving ? 1 : -1);
}

static void layer(const float *in, int inputs, const float *weights, const float *biases,
                  int outputs, float *out) {
  for (int j = 0; j < outputs; j++) {
    float sum = biases[j];
    for (int i = 0; i < inputs; i++) sum += weights[j * inputs + i] * in[i];
    out[j] = sum;
  }
}

static void leaky_relu(float *values, int count) {
  for (int i = 0; i < count; i++) {
    if (values[i] < 0) values[i] *= 0.05f;
  }
}

static void set_probabilities(Planner *p) {
  const Network *net = p->network;
  float in[LINE_FEATURES], a[HIDDEN_1], b[HIDDEN_2], out[EXIT_BINS];
  for (int i = 0; i < net->features; i++) {
    in[i] = fminf(fmaxf(((float)p->features[i] - net->mean[i]) * net->scale[i], -4), 4);
  }
  layer(in, net->features, net->weights_1, net->biases_1, HIDDEN_1, a);
  leaky_relu(a, HIDDEN_1);
  layer(a, HIDDEN_1, net->weights_2, net->biases_2, HIDDEN_2, b);
  leaky_relu(b, HIDDEN_2);
  layer(b, HIDDEN_2, net->weights_3, net->biases_3, EXIT_BINS, out);
  for (int i = 0; i < EXIT_BINS; i++) p->probabilities[i] = 1 / (1 + exp(-(double)out[i]));
}

/* ---- The decision ---- */

/* Price of a second outside, mW: a multiple of the mean power so far, higher if the device was
   outside too often (0.3 % of the time, averaged over 30 min and more). */
static double price_outside(const Planner *p) {
  const Tuning *tuning = &p->tuning;
  double mean = (p->energy + tuning->prior_energy) / (p->time + tuning->prior_time);
  double excess = (p->outside_time + 0.003 * 1800) / (0.003 * (p->time + 1800));
  excess = fmin(fmax(excess, 0.6), 5);
  return fmax(tuning->price * mean * pow(excess, tuning->guard), tuning->least_price);
}

/* Integral of the probability over the time after a fix, for `seconds_outside`, which must be called with increasing
   times. The probability is interpolated linearly between the midpoints of the bins, from 0 at the fix, and is
   constant after the last. */
typedef struct {
  const Planner *planner;
  int bin;
  double sum, last_time, last_probability;
} Risk;

static double midpoint(const Planner *p, int bin) {
  return 0.5 * (exit_bins[bin] + exit_bins[bin + 1]) * p->time_scale;
}

static double seconds_outside(Risk *risk, double time) {
  const Planner *p = risk->planner;
  while (risk->bin < EXIT_BINS && midpoint(p, risk->bin) < time) {
    double next = midpoint(p, risk->bin);
    risk->sum += 0.5 * (risk->last_probability + p->probabilities[risk->bin]) * (next - risk->last_time);
    risk->last_probability = p->probabilities[risk->bin];
    risk->last_time = next;
    risk->bin++;
  }
  double probability = risk->last_probability;
  if (risk->bin < EXIT_BINS) {
    double part = (time - risk->last_time) / (midpoint(p, risk->bin) - risk->last_time);
    probability += (p->probabilities[risk->bin] - risk->last_probability) * part;
  }
  return risk->sum + 0.5 * (risk->last_probability + probability) * (time - risk->last_time);
}

/* The candidates: 0 (stay on), 1 to 20 s, then each 7 % longer, to two hours. */
static double next_choice(double off) {
  if (off < 20) return off + 1;
  if (off >= longest_off) return INFINITY;
  return fmin(fmax(round(off * 1.07), off + 1), longest_off);
}

/* The candidate with the least J = (energy + price × seconds outside) ÷ cycle. */
static double cheapest_off_time(const Planner *p) {
  const Profile *profile = p->profile;
  double speed = p->last.speed, margin = distance_margin(p), price = price_outside(p);
  int is_still = p->has_line && !p->last.is_moving, is_first = p->fix_count <= p->tuning.first_fixes;
  double longest_run = margin * (is_first ? p->tuning.first_run_limit : p->tuning.run_limit);
  double best = 0, least = INFINITY;
  Risk risk = {.planner = p};
  for (double off = is_still ? 1 : 0; off <= longest_off; off = next_choice(off)) {
    /* While the line reports no motion, the duration of the off time is unknown; at least 10 min are assumed. */
    double duration = is_still && off < 600 ? 600 : off;
    double search = off > 0 ? acquisition_time(profile, duration) : 0;
    double ahead = off + search; /* at the next fix the position is exact again */
    double outside = seconds_outside(&risk, ahead);
    if (p->has_line) outside /= p->tuning.standing_rate;
    /* The speed that the receiver reports limits the network's choice. */
    if (speed * ahead > longest_run) break;
    /* A device that would have to accelerate harder than the maximum to be outside is not outside. */
    if (speed * ahead + 0.5 * p->tuning.acceleration * ahead * ahead < margin) outside = 0;
    double spent = profile->track + profile->standby * off + profile->acquire * search;
    double cost = (spent + price * outside) / (1 + ahead);
    if (cost < least) {
      least = cost;
      best = off;
    }
  }
  return best;
}

double planner_off_time(Planner *planner, const FixSample *sample) {
  accept(planner, sample);
  set_features(planner);
  if (planner->tuning.policy == NETWORK) {
    set_probabilities(planner);
    planner->off_time = cheapest_off_time(planner);
  } else {
    planner->off_time = baseline_off(planner);
  }
  return planner->off_time;
}
