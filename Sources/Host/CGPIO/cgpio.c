// Functions that are the same in both versions of libgpiod.
#include "cgpio.h"

#include <gpiod.h>

struct cgpio_chip *cgpio_open(const char *path) {
  return (struct cgpio_chip *)gpiod_chip_open(path);
}

void cgpio_close(struct cgpio_chip *chip) { gpiod_chip_close((struct gpiod_chip *)chip); }
