// GPIO lines through libgpiod version 1 (Debian 12) or version 2 (Debian 13), whichever the system has. Only a shim:
// it makes no decisions.
#ifndef CGPIO_H
#define CGPIO_H

#include <stdint.h>

// Wiring of a line; bits.
#define CGPIO_ACTIVE_LOW 1u
#define CGPIO_PULL_UP 2u
#define CGPIO_PULL_DOWN 4u
#define CGPIO_NO_BIAS 8u
#define CGPIO_OPEN_DRAIN 16u
#define CGPIO_OPEN_SOURCE 32u

// Edges read at a time, which is the kernel's queue length for one line; and the maximum number of such reads per
// call.
#define CGPIO_PULSES 16
#define CGPIO_PULSE_READS 4

// Size of a name in bytes, with its NUL.
#define CGPIO_NAME_SIZE 64

// State of a line, which the kernel reports without a request for the line.
struct cgpio_info {
  char name[CGPIO_NAME_SIZE];      // empty if the line has none
  char consumer[CGPIO_NAME_SIZE];  // holder of the line; "kernel" if the kernel does not name it
  int is_used;
};

// An edge. The clock is CLOCK_MONOTONIC, in nanoseconds.
struct cgpio_edge {
  int is_rising;  // towards active, whatever the voltage
  int64_t time_ns;
};

struct cgpio_chip;
struct cgpio_line;

// Version of the installed libgpiod.
const char *cgpio_version(void);

// A function that fails returns -1 or NULL and sets errno.

// Opens the chip at a path below /dev.
struct cgpio_chip *cgpio_open(const char *path);
void cgpio_close(struct cgpio_chip *chip);
// Offset of the line with that name; ENOENT if the chip has none.
int cgpio_find(struct cgpio_chip *chip, const char *name);
// EINVAL if the chip has no such line.
int cgpio_info(struct cgpio_chip *chip, unsigned offset, struct cgpio_info *info);

// Requests a line as an output. After its release the line may return to its default level.
struct cgpio_line *cgpio_drive(struct cgpio_chip *chip, unsigned offset, unsigned flags, int value,
                               const char *consumer);
// Requests a line as an input with detection of both edges.
struct cgpio_line *cgpio_watch_edges(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                              const char *consumer);
int cgpio_set(struct cgpio_line *line, int value);
int cgpio_get(struct cgpio_line *line);
// A descriptor that is readable while edges are queued.
int cgpio_descriptor(struct cgpio_line *line);
// Reads the next edge: 1, or 0 if none is queued. Does not block.
int cgpio_next_edge(struct cgpio_line *line, struct cgpio_edge *edge);

// Requests a line as an input with detection of edges towards active; each is a pulse. The kernel queues sixteen: the
// newest with version 2, the oldest with version 1.
struct cgpio_line *cgpio_watch_pulses(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                                     const char *consumer);
// Reads all queued pulses and returns the time of the newest: 1, or 0 if there was none. Does not block. One system
// call, and one more for each sixteen pulses.
int cgpio_last_pulse(struct cgpio_line *line, int64_t *time_ns);

void cgpio_release(struct cgpio_line *line);

#endif
