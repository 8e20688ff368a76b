/* SplitMix64: the same sequence on every machine for the same seed. */
#ifndef TRAINING_RANDOM_H
#define TRAINING_RANDOM_H

#include <math.h>
#include <stdint.h>

/* Every processor rounds each operation in the same way. */
#pragma STDC FP_CONTRACT OFF

typedef struct {
  uint64_t state;
} Random;

/* Uniform in 0 ≤ u < 1. */
static inline double uniform(Random *random) {
  random->state += 0x9E3779B97F4A7C15ull;
  uint64_t z = random->state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return (z >> 11) * (1.0 / 9007199254740992.0);
}

/* Normal with mean 0 and standard deviation 1. */
static inline double normal(Random *random) {
  double u = uniform(random);
  double angle = 6.283185307179586 * uniform(random);
  if (u < 1e-300) u = 1e-300;
  return sqrt(-2 * log(u)) * cos(angle);
}

#endif
