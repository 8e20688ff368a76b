// libgpiod version 2. Its headers do not define GPIOD_BIT.
#include <errno.h>
#include <fcntl.h>
#include <gpiod.h>
#include <stdio.h>
#include <stdlib.h>

#include "cgpio.h"

#ifndef GPIOD_BIT

struct cgpio_line {
  struct gpiod_line_request *request;
  struct gpiod_edge_event_buffer *edges;  // NULL for an output
  unsigned offset;
};

const char *cgpio_version(void) { return gpiod_api_version(); }

int cgpio_find(struct cgpio_chip *chip, const char *name) {
  return gpiod_chip_get_line_offset_from_name((struct gpiod_chip *)chip, name);
}

int cgpio_info(struct cgpio_chip *chip, unsigned offset, struct cgpio_info *info) {
  struct gpiod_line_info *details = gpiod_chip_get_line_info((struct gpiod_chip *)chip, offset);
  if (!details) return -1;
  const char *name = gpiod_line_info_get_name(details);
  const char *consumer = gpiod_line_info_get_consumer(details);
  snprintf(info->name, CGPIO_NAME_SIZE, "%s", name ? name : "");
  info->is_used = gpiod_line_info_is_used(details);
  snprintf(info->consumer, CGPIO_NAME_SIZE, "%s",
           consumer ? consumer : info->is_used ? "kernel" : "");
  gpiod_line_info_free(details);
  return 0;
}

static int apply(struct gpiod_line_settings *settings, unsigned flags) {
  int result = 0;
  gpiod_line_settings_set_active_low(settings, flags & CGPIO_ACTIVE_LOW);
  if (flags & CGPIO_PULL_UP)
    result |= gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_PULL_UP);
  if (flags & CGPIO_PULL_DOWN)
    result |= gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_PULL_DOWN);
  if (flags & CGPIO_NO_BIAS)
    result |= gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_DISABLED);
  if (flags & CGPIO_OPEN_DRAIN)
    result |= gpiod_line_settings_set_drive(settings, GPIOD_LINE_DRIVE_OPEN_DRAIN);
  if (flags & CGPIO_OPEN_SOURCE)
    result |= gpiod_line_settings_set_drive(settings, GPIOD_LINE_DRIVE_OPEN_SOURCE);
  return result;
}

// Frees the settings, also on failure.
static struct gpiod_line_request *request(struct cgpio_chip *chip, unsigned offset,
                                          struct gpiod_line_settings *settings,
                                          const char *consumer) {
  struct gpiod_line_request *granted = NULL;
  struct gpiod_line_config *line_config = gpiod_line_config_new();
  struct gpiod_request_config *request_config = gpiod_request_config_new();
  if (line_config && request_config &&
      gpiod_line_config_add_line_settings(line_config, &offset, 1, settings) == 0) {
    gpiod_request_config_set_consumer(request_config, consumer);
    granted = gpiod_chip_request_lines((struct gpiod_chip *)chip, request_config, line_config);
  }
  int code = errno;
  if (request_config) gpiod_request_config_free(request_config);
  if (line_config) gpiod_line_config_free(line_config);
  gpiod_line_settings_free(settings);
  errno = code;
  return granted;
}

static struct cgpio_line *line(struct gpiod_line_request *request, unsigned offset,
                               struct gpiod_edge_event_buffer *edges) {
  struct cgpio_line *requested = request ? malloc(sizeof *requested) : NULL;
  if (!requested) {
    int code = errno;
    if (request) gpiod_line_request_release(request);
    if (edges) gpiod_edge_event_buffer_free(edges);
    errno = code;
    return NULL;
  }
  *requested = (struct cgpio_line){.request = request, .edges = edges, .offset = offset};
  return requested;
}

struct cgpio_line *cgpio_drive(struct cgpio_chip *chip, unsigned offset, unsigned flags, int value,
                               const char *consumer) {
  struct gpiod_line_settings *settings = gpiod_line_settings_new();
  if (!settings) return NULL;
  int result = gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
  result |= gpiod_line_settings_set_output_value(
      settings, value ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
  result |= apply(settings, flags);
  if (result != 0) {
    gpiod_line_settings_free(settings);
    return NULL;
  }
  return line(request(chip, offset, settings, consumer), offset, NULL);
}

static struct cgpio_line *request_input(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                               enum gpiod_line_edge edge, size_t capacity, const char *consumer) {
  struct gpiod_line_settings *settings = gpiod_line_settings_new();
  if (!settings) return NULL;
  int result = gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
  result |= gpiod_line_settings_set_edge_detection(settings, edge);
  result |= gpiod_line_settings_set_event_clock(settings, GPIOD_LINE_CLOCK_MONOTONIC);
  result |= apply(settings, flags);
  struct gpiod_edge_event_buffer *edges =
      result == 0 ? gpiod_edge_event_buffer_new(capacity) : NULL;
  if (!edges) {
    gpiod_line_settings_free(settings);
    return NULL;
  }
  return line(request(chip, offset, settings, consumer), offset, edges);
}

struct cgpio_line *cgpio_watch_edges(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                              const char *consumer) {
  return request_input(chip, offset, flags, GPIOD_LINE_EDGE_BOTH, 1, consumer);
}

int cgpio_set(struct cgpio_line *line, int value) {
  return gpiod_line_request_set_value(
      line->request, line->offset, value ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
}

int cgpio_get(struct cgpio_line *line) {
  // gpiod_line_value: -1 is an error, 0 inactive, 1 active.
  return (int)gpiod_line_request_get_value(line->request, line->offset);
}

int cgpio_descriptor(struct cgpio_line *line) { return gpiod_line_request_get_fd(line->request); }

int cgpio_next_edge(struct cgpio_line *line, struct cgpio_edge *edge) {
  int count = gpiod_line_request_wait_edge_events(line->request, 0);
  if (count <= 0) return count;
  if (gpiod_line_request_read_edge_events(line->request, line->edges, 1) != 1) return -1;
  struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(line->edges, 0);
  edge->is_rising = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
  edge->time_ns = (int64_t)gpiod_edge_event_get_timestamp_ns(event);
  return 1;
}

struct cgpio_line *cgpio_watch_pulses(struct cgpio_chip *chip, unsigned offset, unsigned flags,
                                     const char *consumer) {
  struct cgpio_line *requested =
      request_input(chip, offset, flags, GPIOD_LINE_EDGE_RISING, CGPIO_PULSES, consumer);
  if (requested) fcntl(cgpio_descriptor(requested), F_SETFL, O_NONBLOCK);
  return requested;
}

int cgpio_last_pulse(struct cgpio_line *line, int64_t *time_ns) {
  int found = 0;
  for (int round = 0; round < CGPIO_PULSE_READS; round++) {
    int count = gpiod_line_request_read_edge_events(line->request, line->edges, CGPIO_PULSES);
    if (count < 0) return errno == EAGAIN ? found : -1;
    if (count > 0) {
      struct gpiod_edge_event *last =
          gpiod_edge_event_buffer_get_event(line->edges, (unsigned long)count - 1);
      *time_ns = (int64_t)gpiod_edge_event_get_timestamp_ns(last);
      found = 1;
    }
    if (count < CGPIO_PULSES) break;
  }
  return found;
}

void cgpio_release(struct cgpio_line *line) {
  if (line->edges) gpiod_edge_event_buffer_free(line->edges);
  gpiod_line_request_release(line->request);
  free(line);
}

#endif
