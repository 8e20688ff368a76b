// libgpiod version 1. All its headers define GPIOD_BIT; the headers of version 2 do not.
#include <errno.h>
#include <fcntl.h>
#include <gpiod.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "cgpio.h"

#ifdef GPIOD_BIT

struct cgpio_line {
  struct gpiod_line *line;
};

const char *cgpio_version(void) { return gpiod_version_string(); }

int cgpio_find(struct cgpio_chip *chip, const char *name) {
  struct gpiod_line *line = gpiod_chip_find_line((struct gpiod_chip *)chip, name);
  return line ? (int)gpiod_line_offset(line) : -1;
}

int cgpio_info(struct cgpio_chip *chip, unsigned offset, struct cgpio_info *info) {
  struct gpiod_line *line = gpiod_chip_get_line((struct gpiod_chip *)chip, offset);
  if (!line) return -1;
  const char *name = gpiod_line_name(line);
  const char *consumer = gpiod_line_consumer(line);
  snprintf(info->name, CGPIO_NAME_SIZE, "%s", name ? name : "");
  info->is_used = gpiod_line_is_used(line);
  snprintf(info->consumer, CGPIO_NAME_SIZE, "%s",
           consumer ? consumer : info->is_used ? "kernel" : "");
  return 0;
}

static int request_flags(unsigned flags) {
  int all = 0;
  if (flags & CGPIO_ACTIVE_LOW) all |= GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW;
  if (flags & CGPIO_PULL_UP) all |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP;
  if (flags & CGPIO_PULL_DOWN) all |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN;
  if (flags & CGPIO_NO_BIAS) all |= GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE;
  if (flags & CGPIO_OPEN_DRAIN) all |= GPIOD_LINE_REQUEST_FLAG_OPEN_DRAIN;
  if (flags & CGPIO_OPEN_SOURCE) all |= GPIOD_LINE_REQUEST_FLAG_OPEN_SOURCE;
  return all;
}

static struct cgpio_line *request(struct cgpio_chip *chip, unsigned offset, int type,
                                  unsigned flags, int value, const char *consumer) {
  struct gpiod_line *line = gpiod_chip_get_line((struct gpiod_chip *)chip, offset);
  struct cgpio_line *requested = line ? malloc(sizeof *requested) : NULL;
  if (!requested) return NULL;
  struct gpiod_line_request_config config = {
      .consumer = consumer, .request_type = type, .flags = request_flags(flags)};
  if (gpiod_line_request(line, &config, value) < 0) {
    int code = errno;
    free(requested);
    errno = code;
    return NULL;
  }
  requested->line = line;
  return requested;
}

struct cgpio_line *cgpio_drive(struct cgpio_chip *chip, unsigned offset, unsigned flags, int value,
                               const char *consumer) {
  return request(chip, offset, GPIOD_LINE_REQUEST_DIRECTION_OUTPUT, flags, value, consumer);
}

struct cgpio_line *cgpio_watch_edges(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                              const char *consumer) {
  return request(chip, offset, GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES, flags, 0, consumer);
}

int cgpio_set(struct cgpio_line *line, int value) {
  return gpiod_line_set_value(line->line, value);
}

int cgpio_get(struct cgpio_line *line) { return gpiod_line_get_value(line->line); }

int cgpio_descriptor(struct cgpio_line *line) { return gpiod_line_event_get_fd(line->line); }

int cgpio_next_edge(struct cgpio_line *line, struct cgpio_edge *edge) {
  struct pollfd ready = {.fd = cgpio_descriptor(line), .events = POLLIN};
  int count = poll(&ready, 1, 0);
  if (count <= 0) return count;
  struct gpiod_line_event event;
  if (gpiod_line_event_read(line->line, &event) < 0) return -1;
  edge->is_rising = event.event_type == GPIOD_LINE_EVENT_RISING_EDGE;
  edge->time_ns = (int64_t)event.ts.tv_sec * 1000000000 + event.ts.tv_nsec;
  return 1;
}

struct cgpio_line *cgpio_watch_pulses(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                                     const char *consumer) {
  struct cgpio_line *requested =
      request(chip, offset, GPIOD_LINE_REQUEST_EVENT_RISING_EDGE, flags, 0, consumer);
  if (requested) fcntl(cgpio_descriptor(requested), F_SETFL, O_NONBLOCK);
  return requested;
}

int cgpio_last_pulse(struct cgpio_line *line, int64_t *time_ns) {
  struct gpiod_line_event events[CGPIO_PULSES];
  int found = 0;
  for (int round = 0; round < CGPIO_PULSE_READS; round++) {
    int count = gpiod_line_event_read_multiple(line->line, events, CGPIO_PULSES);
    if (count < 0) return errno == EAGAIN ? found : -1;
    if (count > 0) {
      struct timespec time = events[count - 1].ts;
      *time_ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
      found = 1;
    }
    if (count < CGPIO_PULSES) break;
  }
  return found;
}

void cgpio_release(struct cgpio_line *line) {
  gpiod_line_release(line->line);
  free(line);
}

#endif
