// The memory that the self-test hands to the core: nothing is ever allocated.
#include "CFirmware.h"

__attribute__((aligned(8))) uint8_t firmware_ring[FIRMWARE_RING_SIZE];
__attribute__((aligned(8))) uint8_t firmware_clients[FIRMWARE_CLIENTS_SIZE];
