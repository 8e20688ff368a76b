/* Planners for comparison, and the rule that decides before a first network exists. */
#include <math.h>

#include "planner.h"

double baseline_off(const Planner *planner) {
  const Tuning *tuning = &planner->tuning;
  double speed = planner->last.speed, longest = 3600, scale = 1, expected;
  switch (tuning->policy) {
  case ENTRACKED:
    /* Kjærgaard et al., EnTracked (MobiSys 2009): at the recent speed, straight motion. */
    expected = fmax(fmax(planner->mean_speed[0], speed), 0.5);
    break;
  case ENTRACKED_CAUTIOUS:
    expected = fmax(1.3 * fmax(planner->mean_speed[0], speed), 1.5);
    longest = 120;
    break;
  default:
    /* With a random scale, this rule creates the samples of the first training round. */
    expected = fmax(1.1 * fmax(planner->peak_speed[0], speed), 0.4);
    scale = tuning->explorer_scale;
  }
  double off = (planner->bound - 5) / expected * scale - 1;
  if (planner->bound < 20) off = 0.7 * planner->bound / expected * scale;
  off -= acquisition_time(planner->profile, off);
  off = fmin(off, longest);
  return off < 1 ? 0 : floor(off);
}
