/* What instruments make of a track. */
#include "wearer.h"

/* What a recorder would have written: an error that goes slowly, is larger at rest and indoors,
   and jumps there by 5 to 60 m. One recording in four is perfect. */
void record(Wearer *w, int is_indoors) {
  double size = chance(w, 0.25) ? 0 : log_between(w, 0.3, 4), time = log_between(w, 30, 300);
  double east = size * normal(&w->random), north = size * normal(&w->random);
  double at_rest = is_indoors ? between(w, 1, 5) : between(w, 0.7, 2), stillness = 0;
  double jumps = is_indoors && chance(w, 0.5) ? 1 / log_between(w, 300, 6000) : 0;
  double jump_east = 0, jump_north = 0;
  for (int i = 0; i < w->count; i++) {
    stillness += (!w->is_moving[i] - stillness) / 60;
    double gain = size * (1 + (at_rest - 1) * stillness) * sqrt(2 / time);
    east += -east / time + gain * normal(&w->random);
    north += -north / time + gain * normal(&w->random);
    if (jumps > 0 && stillness > 0.8 && chance(w, jumps)) {
      double length = log_between(w, 5, 60), way = between(w, 0, 6.28);
      jump_east = length * cos(way);
      jump_north = length * sin(way);
    }
    jump_east *= 0.995;
    jump_north *= 0.995;
    w->east[i] += east + jump_east + 0.03 * size * normal(&w->random);
    w->north[i] += north + jump_north + 0.03 * size * normal(&w->random);
  }
}

/* What a motion line says: up to 2 s late at each start, a false alarm of 10 s once an hour. */
void watch(Wearer *w) {
  int was_moving = w->is_moving[0], late = 0, alarm = 0;
  for (int i = 0; i < w->count; i++) {
    int is_moving = w->is_moving[i];
    if (is_moving && !was_moving) late = (int)between(w, 0, 2.99);
    was_moving = is_moving;
    if (late > 0) {
      is_moving = 0;
      late--;
    }
    if (chance(w, 1 / 3600.0)) alarm = 10;
    if (alarm > 0) {
      is_moving = 1;
      alarm--;
    }
    w->is_moving[i] = is_moving;
  }
}
