#include "CLinux.h"

// The kernel's header instead of <termios.h>, which supports only speeds with a named constant.
#include <asm/termbits.h>
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <time.h>

static int result(int value) { return value < 0 ? -errno : value; }

/// Whether the port's actual speed is close enough: a character of ten bits tolerates an error of 2 %.
static int is_near(uint32_t actual, uint32_t requested) {
  uint32_t difference = actual > requested ? actual - requested : requested - actual;
  return difference <= requested / 50;
}

static void put_speed(struct termios2 *line, uint32_t baud) {
  // BOTHER for both directions: any speed, given as a number.
  line->c_cflag &= ~(tcflag_t)(CBAUD | CBAUD << IBSHIFT);
  line->c_cflag |= BOTHER | BOTHER << IBSHIFT;
  line->c_ispeed = baud;
  line->c_ospeed = baud;
}

/// TCSETS2 succeeds even if only some settings were applied, so they are read back.
static int set(int descriptor, struct termios2 *line, uint32_t baud) {
  if (ioctl(descriptor, TCSETS2, line) < 0) return -errno;
  if (ioctl(descriptor, TCGETS2, line) < 0) return -errno;
  return is_near(line->c_ospeed, baud) ? 0 : -EINVAL;
}

_Static_assert(sizeof(struct termios2) <= sizeof(clinux_line_state),
               "clinux_line_state is too small for termios2");

int clinux_line_get_state(int descriptor, clinux_line_state *state) {
  struct termios2 line;
  if (ioctl(descriptor, TCGETS2, &line) < 0) return -errno;
  memcpy(state, &line, sizeof line);
  return ioctl(descriptor, TIOCGEXCL, &state->is_exclusive) < 0 ? -errno : 0;
}

int clinux_line_restore_state(int descriptor, const clinux_line_state *state) {
  struct termios2 line;
  memcpy(&line, state, sizeof line);
  int error = result(ioctl(descriptor, TCSETS2, &line));
  // Keep the exclusive mode if another process had set it.
  if (!state->is_exclusive && ioctl(descriptor, TIOCNXCL) < 0 && error == 0) error = -errno;
  return error;
}

int clinux_line_configure(int descriptor, uint32_t baud) {
  struct termios2 before, line;
  if (ioctl(descriptor, TCGETS2, &before) < 0) return -errno;
  line = before;
  line.c_iflag = IGNBRK;
  line.c_oflag = 0;
  line.c_lflag = 0;
  line.c_cflag &= ~(tcflag_t)(CSIZE | PARENB | CSTOPB | CRTSCTS | HUPCL);
  line.c_cflag |= CS8 | CREAD | CLOCAL;
  line.c_cc[VMIN] = 1;
  line.c_cc[VTIME] = 0;
  if (baud != 0) put_speed(&line, baud);
  int error = set(descriptor, &line, baud != 0 ? baud : before.c_ospeed);
  if (error < 0) {
    ioctl(descriptor, TCSETS2, &before);
    return error;
  }
  int had_other_speed = baud != 0 && before.c_ospeed != baud;
  return had_other_speed ? result(ioctl(descriptor, TCFLSH, TCIFLUSH)) : 0;
}

int clinux_line_claim(int descriptor, uint32_t baud) {
  clinux_line_state before;
  int error = clinux_line_get_state(descriptor, &before);
  if (error < 0) return error;
  // TIOCEXCL does not exclude root; flock() excludes every program that uses it.
  if (flock(descriptor, LOCK_EX | LOCK_NB) < 0) return errno == EWOULDBLOCK ? -EBUSY : -errno;
  if (ioctl(descriptor, TIOCEXCL) < 0) return -errno;
  error = clinux_line_configure(descriptor, baud);
  if (error < 0) clinux_line_restore_state(descriptor, &before);
  return error;
}

/// Time to send that many characters of ten bits each.
static int64_t bytes_us(int count, uint32_t baud) { return count * INT64_C(10000000) / baud; }

static void sleep_us(int64_t microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&time, NULL);
}

int clinux_line_set_speed(int descriptor, uint32_t baud, uint32_t old_baud) {
  // tcdrain() alone would block forever on a device that accepts nothing.
  int count = 0;
  if (ioctl(descriptor, TIOCOUTQ, &count) < 0) return -errno;
  int64_t left_us = 500000 + bytes_us(count, old_baud);
  while (count > 0 && left_us > 0) {
    int64_t pause_us = bytes_us(count, old_baud);
    if (pause_us < 500) pause_us = 500;
    if (pause_us > left_us) pause_us = left_us;
    sleep_us(pause_us);
    left_us -= pause_us;
    if (ioctl(descriptor, TIOCOUTQ, &count) < 0) return -errno;
  }
  // Bytes that are still unsent are in the port's own buffer, for which its driver waits a bounded time.
  if (count == 0 && ioctl(descriptor, TCSBRK, 1) < 0) return -errno;
  struct termios2 line;
  if (ioctl(descriptor, TCGETS2, &line) < 0) return -errno;
  put_speed(&line, baud);
  int error = set(descriptor, &line, baud);
  return error < 0 ? error : result(ioctl(descriptor, TCFLSH, TCIFLUSH));
}

void clinux_line_discard_input(int descriptor) { ioctl(descriptor, TCFLSH, TCIFLUSH); }

int clinux_line_queued(int descriptor) {
  int count = 0;
  return ioctl(descriptor, TIOCOUTQ, &count) < 0 ? -errno : count;
}

int64_t clinux_line_speed(int descriptor) {
  struct termios2 line;
  if (ioctl(descriptor, TCGETS2, &line) < 0) return -errno;
  return line.c_ospeed;
}
