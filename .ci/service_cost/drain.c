// A client that drains its undelivered fixes: `drain SOCKET NAME`. Connects under that name, drains, and checks
// that each record's name is higher than the previous one. Prints the number of fixes, the first and last sequence
// number, and the nanoseconds from before the call until the end of the stream; exits with 1 on an error.

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 32, RECORD = 80 };

static int fail(const char *what) {
  fprintf(stderr, "drain: %s\n", what);
  exit(1);
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) fail("cannot connect");
  return descriptor;
}

// Reads a reply, including its NUL; more bytes may follow. Returns the number of bytes read.
static size_t reply(int connection, char *bytes, size_t capacity) {
  size_t count = 0;
  while (!memchr(bytes, 0, count)) {
    ssize_t received = recv(connection, bytes + count, capacity - count, 0);
    if (received <= 0) fail("no reply");
    count += (size_t)received;
  }
  return count;
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static uint64_t number(const char *reply, const char *member) {
  const char *found = strstr(reply, member);
  if (!found) fail(reply);
  return strtoull(found + strlen(member), NULL, 10);
}

static uint64_t first, last;
static uint32_t generation;

static void check_record(const char *record, uint64_t number) {
  uint64_t sequence;
  uint32_t record_generation;
  memcpy(&sequence, record, sizeof sequence);
  memcpy(&record_generation, record + 8, sizeof record_generation);
  if (number == 0) first = sequence;
  if (number > 0 && (record_generation < generation || sequence <= last)) fail("names out of order");
  last = sequence;
  generation = record_generation;
}

int main(int count, char **arguments) {
  if (count != 3) return 64;
  static char bytes[1 << 20];
  static char call[512];
  int control = connect_to(arguments[1]);
  int length = snprintf(
      call, sizeof call, "{\"method\":\"org.torpor.Location.Connect\",\"parameters\":{\"name\":\"%s\"}}", arguments[2]);
  send(control, call, (size_t)length + 1, 0);
  reply(control, bytes, sizeof bytes);
  uint64_t session = number(bytes, "\"session\":");
  int drain = connect_to(arguments[1]);
  length = snprintf(
      call, sizeof call,
      "{\"method\":\"org.torpor.Location.Drain\",\"upgrade\":true,\"parameters\":{\"session\":%" PRIu64 "}}", session);
  int64_t began = now_ns();
  send(drain, call, (size_t)length + 1, 0);
  size_t buffered = reply(drain, bytes, sizeof bytes);
  uint64_t announced = number(bytes, "\"count\":");
  size_t offset = strlen(bytes) + 1;
  int has_header = 0;
  uint64_t found = 0;
  for (;;) {
    if (!has_header && buffered - offset >= HEADER) {
      uint64_t header_count;
      memcpy(&header_count, bytes + offset + 16, sizeof header_count);
      if (memcmp(bytes + offset, "TORPFIXS", 8) || header_count != announced) fail("no header");
      has_header = 1;
      offset += HEADER;
    }
    while (has_header && buffered - offset >= RECORD) {
      check_record(bytes + offset, found++);
      offset += RECORD;
    }
    memmove(bytes, bytes + offset, buffered - offset);
    buffered -= offset;
    offset = 0;
    ssize_t received = recv(drain, bytes + buffered, sizeof bytes - buffered, 0);
    if (received < 0) fail("the stream broke");
    if (received == 0) break;
    buffered += (size_t)received;
  }
  int64_t ended = now_ns();
  if (found != announced || buffered) fail("fewer fixes than announced");
  printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n", found, first, last, ended - began);
  return 0;
}
