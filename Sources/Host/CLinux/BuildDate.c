#include "CLinux.h"

#include <string.h>

// "Jan  1 2026"
static const char date[] = __DATE__;

static int digit(char character) { return character == ' ' ? 0 : character - '0'; }

int build_year(void) {
  return digit(date[7]) * 1000 + digit(date[8]) * 100 + digit(date[9]) * 10 + digit(date[10]);
}

int build_month(void) {
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  for (int i = 0; i < 12; i++) {
    if (strncmp(date, months + 3 * i, 3) == 0) return i + 1;
  }
  return 1;
}

int build_day(void) { return digit(date[4]) * 10 + digit(date[5]); }
