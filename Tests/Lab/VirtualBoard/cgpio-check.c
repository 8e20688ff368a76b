// Checks the interface of Sources/Host/CGPIO on a simulated chip (`gpio-sim`) controlled by sysfs.
// Built with each version of libgpiod. Prints the version; exits with 1 at the first failed check.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cgpio.h"

#define EXPECT(what)                                                                       \
  do {                                                                                     \
    if (!(what)) {                                                                         \
      printf("libgpiod %s, line %d: check failed: %s (errno %d)\n", cgpio_version(), __LINE__, #what, errno); \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

static struct cgpio_chip *chip;

// Sets the simulated level of an input line.
static void pull(int offset, const char *where) {
  char path[64];
  snprintf(path, sizeof path, "/gpio/sim_gpio%d/pull", offset);
  int file = open(path, O_WRONLY);
  EXPECT(file >= 0 && write(file, where, strlen(where)) > 0);
  close(file);
}

static int level(int offset) {
  char path[64], text[4] = "";
  snprintf(path, sizeof path, "/gpio/sim_gpio%d/value", offset);
  int file = open(path, O_RDONLY);
  EXPECT(file >= 0 && read(file, text, 3) > 0);
  close(file);
  return text[0] == '1';
}

static int is_ready(struct cgpio_line *line, int ms) {
  struct pollfd waiting = {.fd = cgpio_descriptor(line), .events = POLLIN};
  return poll(&waiting, 1, ms) == 1;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void check_output(int offset) {
  struct cgpio_info info;
  struct cgpio_line *line = cgpio_drive(chip, offset, 0, 1, "check");
  EXPECT(line && level(offset) == 1);
  EXPECT(cgpio_info(chip, offset, &info) == 0 && info.is_used && !strcmp(info.consumer, "check"));
  EXPECT(!cgpio_drive(chip, offset, 0, 0, "another") && errno == EBUSY && level(offset) == 1);
  EXPECT(cgpio_set(line, 0) == 0 && level(offset) == 0);
  cgpio_release(line);
  EXPECT(cgpio_info(chip, offset, &info) == 0 && !info.is_used && !info.consumer[0]);

  EXPECT(line = cgpio_drive(chip, offset, CGPIO_ACTIVE_LOW, 1, "check"));
  EXPECT(level(offset) == 0 && cgpio_set(line, 0) == 0 && level(offset) == 1);
  cgpio_release(line);

  // A chip may not support these attributes; requests with them must be accepted nevertheless.
  const unsigned attributes[] = {CGPIO_OPEN_DRAIN, CGPIO_OPEN_SOURCE, CGPIO_NO_BIAS, CGPIO_PULL_UP, CGPIO_PULL_DOWN};
  for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++) {
    EXPECT(line = cgpio_drive(chip, offset, attributes[i], 1, "check"));
    cgpio_release(line);
  }
}

static void check_edges(int offset, unsigned flags) {
  int is_low_active = flags & CGPIO_ACTIVE_LOW ? 1 : 0;
  pull(offset, "pull-down");
  struct cgpio_edge edge;
  struct cgpio_line *line = cgpio_watch_edges(chip, offset, flags, "check");
  EXPECT(line && cgpio_get(line) == is_low_active);
  EXPECT(!is_ready(line, 0) && cgpio_next_edge(line, &edge) == 0);
  int64_t before = now_ns();
  pull(offset, "pull-up");
  pull(offset, "pull-down");
  EXPECT(is_ready(line, 1000));
  EXPECT(cgpio_next_edge(line, &edge) == 1 && edge.is_rising == !is_low_active);
  EXPECT(edge.time_ns >= before && edge.time_ns <= now_ns());
  int64_t first = edge.time_ns;
  EXPECT(is_ready(line, 1000) && cgpio_next_edge(line, &edge) == 1);
  EXPECT(edge.is_rising == is_low_active && edge.time_ns >= first);
  EXPECT(!is_ready(line, 0) && cgpio_next_edge(line, &edge) == 0);
  cgpio_release(line);
}

// The timestamp of the last pulse is returned for either polarity, and no event remains queued.
static void check_pulses(int offset, unsigned flags) {
  const char *up = flags & CGPIO_ACTIVE_LOW ? "pull-down" : "pull-up";
  const char *down = flags & CGPIO_ACTIVE_LOW ? "pull-up" : "pull-down";
  int64_t time = -1;
  pull(offset, down);
  struct cgpio_line *line = cgpio_watch_pulses(chip, offset, flags, "check");
  EXPECT(line && cgpio_last_pulse(line, &time) == 0 && time == -1);
  pull(offset, up);
  pull(offset, down);
  int64_t before = now_ns();
  pull(offset, up);
  EXPECT(is_ready(line, 1000));
  int64_t after = now_ns();
  pull(offset, down);
  EXPECT(cgpio_last_pulse(line, &time) == 1 && time >= before && time <= after);
  EXPECT(!is_ready(line, 0) && cgpio_last_pulse(line, &time) == 0);
  // More pulses than the kernel queues: the last one is returned, and the queue is empty.
  for (int pulse = 0; pulse < 40; pulse++) {
    pull(offset, up);
    pull(offset, down);
  }
  EXPECT(cgpio_last_pulse(line, &time) == 1 && time > after && time <= now_ns());
  EXPECT(!is_ready(line, 0) && cgpio_last_pulse(line, &time) == 0);
  pull(offset, up);
  EXPECT(is_ready(line, 1000) && cgpio_last_pulse(line, &time) == 1);
  cgpio_release(line);
}

int main(void) {
  char path[32];
  int wake = -1;
  for (int number = 0; number < 8 && wake < 0; number++) {
    snprintf(path, sizeof path, "/dev/gpiochip%d", number);
    if (chip) cgpio_close(chip);
    if ((chip = cgpio_open(path))) wake = cgpio_find(chip, "GNSS_WAKE");
  }
  EXPECT(wake >= 0);
  int batch = cgpio_find(chip, "GNSS_BATCH");
  EXPECT(batch >= 0 && batch != wake);
  EXPECT(cgpio_find(chip, "NO_SUCH_LINE") == -1 && errno == ENOENT);
  struct cgpio_info info;
  EXPECT(cgpio_info(chip, 999, &info) == -1 && errno == EINVAL);
  EXPECT(cgpio_info(chip, wake, &info) == 0 && !strcmp(info.name, "GNSS_WAKE"));
  EXPECT(!cgpio_open("/dev/gpiochip99") && errno == ENOENT);
  check_output(wake);
  check_edges(batch, 0);
  check_edges(batch, CGPIO_ACTIVE_LOW);
  check_pulses(batch, 0);
  check_pulses(batch, CGPIO_ACTIVE_LOW);
  // Without an external level, the bias determines the value.
  struct cgpio_line *line = cgpio_watch_edges(chip, batch, CGPIO_PULL_UP, "check");
  EXPECT(line && cgpio_get(line) == 1);
  cgpio_release(line);
  EXPECT(line = cgpio_watch_edges(chip, batch, CGPIO_PULL_DOWN, "check"));
  EXPECT(cgpio_get(line) == 0);
  cgpio_release(line);
  cgpio_close(chip);
  printf("libgpiod %s\n", cgpio_version());
  return 0;
}
