/* Position errors of a recorder, and a motion line. */
#include "motion.h"

/* Adds the errors of a recorded track: a slowly varying error, larger for a stationary device and indoors, where it
   also jumps by 5 to 60 m. One recording in four has no error. */
void add_position_errors(Motion *m, int is_indoors) {
  double size = chance(m, 0.25) ? 0 : log_between(m, 0.3, 4), time = log_between(m, 30, 300);
  double east = size * normal(&m->random), north = size * normal(&m->random);
  double still_factor = is_indoors ? between(m, 1, 5) : between(m, 0.7, 2), stillness = 0;
  double jumps = is_indoors && chance(m, 0.5) ? 1 / log_between(m, 300, 6000) : 0;
  double jump_east = 0, jump_north = 0;
  for (int i = 0; i < m->count; i++) {
    stillness += (!m->is_moving[i] - stillness) / 60;
    double gain = size * (1 + (still_factor - 1) * stillness) * sqrt(2 / time);
    east += -east / time + gain * normal(&m->random);
    north += -north / time + gain * normal(&m->random);
    if (jumps > 0 && stillness > 0.8 && chance(m, jumps)) {
      double length = log_between(m, 5, 60), direction = between(m, 0, 6.28);
      jump_east = length * cos(direction);
      jump_north = length * sin(direction);
    }
    jump_east *= 0.995;
    jump_north *= 0.995;
    m->east[i] += east + jump_east + 0.03 * size * normal(&m->random);
    m->north[i] += north + jump_north + 0.03 * size * normal(&m->random);
  }
}

/* Converts the motion to the output of a motion line: each start up to 2 s late, a false alarm of 10 s once an hour. */
void convert_to_motion_line(Motion *m) {
  int was_moving = m->is_moving[0], delay = 0, alarm = 0;
  for (int i = 0; i < m->count; i++) {
    int is_moving = m->is_moving[i];
    if (is_moving && !was_moving) delay = (int)between(m, 0, 2.99);
    was_moving = is_moving;
    if (delay > 0) {
      is_moving = 0;
      delay--;
    }
    if (chance(m, 1 / 3600.0)) alarm = 10;
    if (alarm > 0) {
      is_moving = 1;
      alarm--;
    }
    m->is_moving[i] = is_moving;
  }
}
