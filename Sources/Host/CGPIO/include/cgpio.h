// Lines of GPIO through libgpiod, whichever of its two interfaces the system has: version 1 (Debian 12) or
// version 2 (Debian 13). Nothing is decided here.
#ifndef CGPIO_H
#define CGPIO_H

#include <stdint.h>

// How a line is used; bits.
#define CGPIO_ACTIVE_LOW 1u
#define CGPIO_PULL_UP 2u
#define CGPIO_PULL_DOWN 4u
#define CGPIO_NO_BIAS 8u
#define CGPIO_OPEN_DRAIN 16u
#define CGPIO_OPEN_SOURCE 32u

// Pulses that are read at a time: as many as the kernel keeps of a line. So often they are read at the most.
#define CGPIO_PULSES 16
#define CGPIO_PULSE_READS 4

// Bytes of a name with its NUL.
#define CGPIO_NAME 64

// What the kernel tells of a line that nobody needs to have.
struct cgpio_info {
  char name[CGPIO_NAME];      // empty where it has none
  char consumer[CGPIO_NAME];  // who holds it; "kernel" where that is not told
  int is_used;
};

// An edge. The clock is CLOCK_MONOTONIC, nanoseconds.
struct cgpio_edge {
  int is_rising;  // in terms of what is active
  int64_t time_ns;
};

struct cgpio_chip;
struct cgpio_line;

// The version of the library that is there.
const char *cgpio_version(void);

// All functions that can fail give -1, or NULL, with errno.

// Opens the chip at a path under /dev.
struct cgpio_chip *cgpio_open(const char *path);
void cgpio_close(struct cgpio_chip *chip);
// The offset of the line of that name; ENOENT where the chip has none.
int cgpio_find(struct cgpio_chip *chip, const char *name);
// EINVAL where the chip has no such line.
int cgpio_info(struct cgpio_chip *chip, unsigned offset, struct cgpio_info *info);

// Drives a line, until it is released; after that it may fall back.
struct cgpio_line *cgpio_drive(struct cgpio_chip *chip, unsigned offset, unsigned flags, int value,
                               const char *consumer);
// Hears both edges of a line.
struct cgpio_line *cgpio_hear(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                              const char *consumer);
int cgpio_set(struct cgpio_line *line, int value);
int cgpio_get(struct cgpio_line *line);
// Readable when there is an edge.
int cgpio_descriptor(struct cgpio_line *line);
// The next edge: 1; 0 where there is none. Does not wait.
int cgpio_next_edge(struct cgpio_line *line, struct cgpio_edge *edge);

// Hears the edges up of a line, in terms of what is active, each of which is a pulse. The kernel keeps sixteen of
// them: with version 2 the last ones, with version 1 the first.
struct cgpio_line *cgpio_hear_pulses(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                                     const char *consumer);
// When the last of the pulses was that nobody has asked for: 1; 0 where there was none. Does not wait. One system
// call, and one more for each sixteen pulses.
int cgpio_last_pulse(struct cgpio_line *line, int64_t *time_ns);

void cgpio_release(struct cgpio_line *line);

#endif
