// The self-test's platform interface: console, static memory, stack measurement.
#ifndef TORPOR_FIRMWARE_H
#define TORPOR_FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

// Size of a ring of 256 fixes with its two header sectors: 2 × 512 + 256 × 64 bytes.
#define FIRMWARE_RING_SIZE 17408
// Memory for the clients, bytes; the self-test checks that they fit.
#define FIRMWARE_CLIENTS_SIZE 32768

extern uint8_t firmware_ring[FIRMWARE_RING_SIZE];
extern uint8_t firmware_clients[FIRMWARE_CLIENTS_SIZE];

// Start of each memory area. All bytes are zero when the program starts.
static inline uint8_t *firmware_ring_start(void) { return firmware_ring; }
static inline uint8_t *firmware_clients_start(void) { return firmware_clients; }

// Writes one character to the console.
void firmware_put(uint8_t character);

// Starts measuring the stack used below the caller's frame.
void firmware_stack_mark(void);

// Bytes of stack used since then; 0 if not measured.
size_t firmware_stack_used(void);

// Instructions since the start, in steps of the board's timer; 0 if not counted.
uint64_t firmware_instructions(void);

// Runs every check; returns 0 if all succeed. Implemented in Swift.
int32_t firmware_self_test(void);

#endif
