#include "Floors.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// The alignment of a function changes the speed of its loops by a third and more. Each floor starts at a cache
// line, so that its time does not depend on the code linked next to it.
#define FLOOR __attribute__((aligned(64)))

static int hex_digit(uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

FLOOR uint64_t floor_nmea(const uint8_t *stream, size_t length, size_t *position, uint64_t sentences) {
  uint64_t sum = 0;
  size_t at = *position;
  while (sentences > 0) {
    if (at >= length) at = 0;
    while (at < length && stream[at] != '$') at++;
    if (at >= length) continue;
    at++;
    uint8_t checksum = 0;
    uint64_t fields = 0;
    size_t begin = at;
    while (at < length && stream[at] != '*') {
      uint8_t byte = stream[at];
      checksum ^= byte;
      if (byte == ',') {
        fields = fields * 31 + (at - begin);
        begin = at + 1;
      }
      at++;
    }
    if (at + 2 < length) {
      int expected = hex_digit(stream[at + 1]) * 16 + hex_digit(stream[at + 2]);
      if (expected == checksum) sum += fields;
    }
    sentences--;
  }
  *position = at;
  return sum;
}

FLOOR uint64_t floor_ubx(const uint8_t *stream, size_t length, size_t *position, uint64_t frames) {
  static uint8_t payload[1024];
  uint64_t sum = 0;
  size_t at = *position;
  while (frames > 0) {
    if (at + 8 > length) at = 0;
    if (stream[at] != 0xB5 || stream[at + 1] != 0x62) {
      at++;
      continue;
    }
    size_t size = stream[at + 4] | (size_t)stream[at + 5] << 8;
    if (size > sizeof payload || at + 8 + size > length) {
      at = 0;
      continue;
    }
    uint8_t a = 0, b = 0;
    for (size_t i = at + 2; i < at + 6 + size; i++) {
      a = (uint8_t)(a + stream[i]);
      b = (uint8_t)(b + a);
    }
    if (a == stream[at + 6 + size] && b == stream[at + 7 + size]) {
      memcpy(payload, stream + at + 6, size);
      sum += payload[frames % size];
    }
    at += 8 + size;
    frames--;
  }
  *position = at;
  return sum;
}

static uint32_t tables[8][256];

static void make_tables(void) {
  for (uint32_t n = 0; n < 256; n++) {
    uint32_t crc = n;
    for (int bit = 0; bit < 8; bit++) crc = (crc & 1) ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
    tables[0][n] = crc;
  }
  for (int k = 1; k < 8; k++) {
    for (uint32_t n = 0; n < 256; n++) {
      tables[k][n] = (tables[k - 1][n] >> 8) ^ tables[0][tables[k - 1][n] & 0xFF];
    }
  }
}

// CRC-32C, eight bytes per step (slicing-by-8): the fastest portable C without the processor's CRC instruction.
static uint32_t crc_of(const uint8_t *bytes, size_t length) {
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i + 8 <= length; i += 8) {
    uint32_t low, high;
    memcpy(&low, bytes + i, 4);
    memcpy(&high, bytes + i + 4, 4);
    low ^= crc;
    crc = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^
          tables[4][low >> 24] ^ tables[3][high & 0xFF] ^ tables[2][high >> 8 & 0xFF] ^
          tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
  }
  return ~crc;
}

FLOOR uint64_t floor_slots(uint8_t *ring, size_t capacity, uint64_t *sequence, uint64_t slots) {
  static bool ready = false;
  if (!ready) {
    make_tables();
    ready = true;
  }
  uint8_t record[64] = {0};
  for (; slots > 0; slots--) {
    memcpy(record, sequence, sizeof *sequence);
    uint32_t crc = crc_of(record, 56);
    memcpy(record + 60, &crc, sizeof crc);
    memcpy(ring + (*sequence % capacity) * 64, record, 64);
    *sequence += 1;
  }
  return ring[60];
}

FLOOR uint64_t floor_copies(uint8_t *output, size_t capacity, const uint8_t *text, size_t length, uint64_t texts) {
  size_t offset = 0;
  uint64_t sum = 0;
  for (; texts > 0; texts--) {
    if (length > capacity - offset) {
      sum += output[offset / 2];
      offset = 0;
    }
    memcpy(output + offset, text, length);
    output[offset] = (uint8_t)texts;
    offset += length;
  }
  return sum + output[0];
}

FLOOR uint64_t floor_haversine(const double *radians, size_t pairs, size_t *position, uint64_t distances) {
  uint64_t sum = 0;
  for (; distances > 0; distances--) {
    const double *pair = radians + 4 * *position;
    double north = sin((pair[2] - pair[0]) / 2);
    double east = sin((pair[3] - pair[1]) / 2);
    double square = north * north + cos(pair[0]) * cos(pair[2]) * east * east;
    double distance = 2 * 6371008.8 * asin(sqrt(square));
    uint64_t bits;
    memcpy(&bits, &distance, sizeof bits);
    sum += bits;
    *position = *position + 1 == pairs ? 0 : *position + 1;
  }
  return sum;
}
