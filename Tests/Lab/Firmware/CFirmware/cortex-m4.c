// The self-test on a Cortex-M4 without an operating system: vectors, start, semihosting.
// Run with `qemu-system-arm -M mps2-an386 -semihosting`; the memory map is in cortex-m4.ld.
#include "CFirmware.h"

extern uint32_t __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[];
extern uint32_t __stack_limit[], __stack_top[];

// Fill pattern for unused words of the stack.
#define UNTOUCHED 0x5AA5C33Cu

// Arm semihosting: operation number and argument; QEMU handles the breakpoint.
enum { SYS_WRITEC = 0x03, SYS_EXIT_EXTENDED = 0x20 };
// ADP_Stopped_ApplicationExit: the reason code for an exit with a status.
#define APPLICATION_EXIT 0x20026u

static int32_t call_host(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return (int32_t)r0;
}

__attribute__((noreturn)) static void leave(uint32_t status) {
  const uint32_t arguments[2] = {APPLICATION_EXIT, status};
  call_host(SYS_EXIT_EXTENDED, arguments);
  for (;;) {
  }
}

void firmware_put(uint8_t character) { call_host(SYS_WRITEC, &character); }

static void put_text(const char *text) {
  for (; *text; text++) firmware_put((uint8_t)*text);
}

static void put_hex(uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) {
    firmware_put((uint8_t)"0123456789abcdef"[value >> shift & 15]);
  }
}

// Stack position at the start of the measurement.
static const uint32_t *stack_mark;

void firmware_stack_mark(void) {
  stack_mark = __builtin_frame_address(0);
  // Leave 64 words for this function's own frame, which lies below the mark.
  for (uint32_t *word = __stack_limit; word < stack_mark - 64; word++) *word = UNTOUCHED;
}

size_t firmware_stack_used(void) {
  const uint32_t *word = __stack_limit;
  while (word < stack_mark && *word == UNTOUCHED) word++;
  return (size_t)((const uint8_t *)stack_mark - (const uint8_t *)word);
}

// The board's cycle counter, 25 MHz. With `-icount shift=0` QEMU executes one instruction per ns.
#define BOARD_COUNTER (*(volatile uint32_t *)0x40028018u)
#define INSTRUCTIONS_PER_CYCLE 40u

uint64_t firmware_instructions(void) { return (uint64_t)BOARD_COUNTER * INSTRUCTIONS_PER_CYCLE; }

// A Swift trap is an undefined instruction, so it ends here like every fault, with exit status 1.
__attribute__((used, noreturn)) static void report_fault(const uint32_t *frame) {
  put_text("fault: pc 0x");
  put_hex(frame[6]);
  put_text(" lr 0x");
  put_hex(frame[5]);
  put_text("\nFAIL\n");
  leave(1);
}

__attribute__((naked)) void on_fault(void) {
  __asm__ volatile("mov r0, sp\n b report_fault");
}

// Access control of the floating-point unit, which is disabled after a reset.
#define CPACR (*(volatile uint32_t *)0xE000ED88u)

__attribute__((noreturn)) void on_reset(void) {
  CPACR |= 0xFu << 20;
  __asm__ volatile("dsb\n isb");
  const uint32_t *from = __data_load;
  for (uint32_t *to = __data_start; to < __data_end;) *to++ = *from++;
  for (uint32_t *to = __bss_start; to < __bss_end;) *to++ = 0;
  leave((uint32_t)firmware_self_test());
}

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
  (vector)__stack_top, on_reset, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault,
  on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault,
};

// libm stores domain errors here; they are not read.
static int error_number;
int *__errno(void) { return &error_number; }
