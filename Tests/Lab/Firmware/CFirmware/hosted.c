// The self-test as a Linux program.
#include "CFirmware.h"

#include <stdio.h>

void firmware_put(uint8_t character) { putchar(character); }

void firmware_stack_mark(void) {}

size_t firmware_stack_used(void) { return 0; }

uint64_t firmware_instructions(void) { return 0; }

int main(void) {
  // Unbuffered, so that a trap does not lose earlier output.
  setvbuf(stdout, NULL, _IONBF, 0);
  return firmware_self_test();
}
