// Static memory that the self-test passes to the core, which allocates nothing.
#include "CFirmware.h"

__attribute__((aligned(8))) uint8_t firmware_ring[FIRMWARE_RING_SIZE];
__attribute__((aligned(8))) uint8_t firmware_clients[FIRMWARE_CLIENTS_SIZE];
