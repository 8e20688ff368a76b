// The self-test as a program of Linux.
#include "CFirmware.h"

#include <stdio.h>

void firmware_put(uint8_t character) { putchar(character); }

void firmware_stack_mark(void) {}

size_t firmware_stack_used(void) { return 0; }

uint64_t firmware_instructions(void) { return 0; }

int main(void) {
  // A trap must not take what was printed before it along.
  setvbuf(stdout, NULL, _IONBF, 0);
  return firmware_self_test();
}
