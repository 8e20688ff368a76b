// What a board gives the self-test: a console, static memory and the depth of its stack.
#ifndef TORPOR_FIRMWARE_H
#define TORPOR_FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

// Room for a ring of 256 fixes, with its two header sectors: 2 × 512 + 256 × 64.
#define FIRMWARE_RING_SIZE 17408
// Room for a few clients; the self-test checks that they fit.
#define FIRMWARE_CLIENTS_SIZE 32768

extern uint8_t firmware_ring[FIRMWARE_RING_SIZE];
extern uint8_t firmware_clients[FIRMWARE_CLIENTS_SIZE];

// The first byte of that memory. All zeros when the program starts.
static inline uint8_t *firmware_ring_start(void) { return firmware_ring; }
static inline uint8_t *firmware_clients_start(void) { return firmware_clients; }

// Writes one character to the console.
void firmware_put(uint8_t character);

// Begins to measure the stack: what is used from here on, below the caller.
void firmware_stack_mark(void);

// The bytes of stack used since then; 0 where that is not measured.
size_t firmware_stack_used(void);

// Instructions since the start, in steps of the board's timer; 0 where they are not counted.
uint64_t firmware_instructions(void);

// Runs every check; 0 if all is well. In Swift.
int32_t firmware_self_test(void);

#endif
