#ifndef TORPOR_CLINUX_H
#define TORPOR_CLINUX_H

// What of Linux the C library's Swift module lacks. Plain functions without state; what fails is
// given back as a negative error number, so that nobody has to read `errno` in time.

#include <stddef.h>
#include <stdint.h>

// MARK: Waiting

/// A descriptor that has something, by the number it was added with.
struct clinux_ready {
  uint32_t token;
  uint32_t events;
};

/// Bits of `events`. CLINUX_GONE is told whether it was asked for or not, CLINUX_CHANGED is for files of the
/// kernel that tell of themselves, which also count as gone then.
enum {
  CLINUX_READABLE = 1,
  CLINUX_WRITABLE = 2,
  CLINUX_GONE = 4,
  CLINUX_CHANGED = 8,
  /// Asked for only: the machine is not suspended while there is something. Needs CAP_BLOCK_SUSPEND.
  CLINUX_KEEPS_AWAKE = 16,
};

/// What clinux_epoll_set() does.
enum {
  CLINUX_ADD = 0,
  CLINUX_CHANGE = 1,
  CLINUX_REMOVE = 2,
};

/// The most descriptors one wait tells of.
enum { CLINUX_READY_MAX = 64 };

/// A new epoll; closed on exec.
int clinux_epoll_open(void);

/// Adds, changes or removes a descriptor; level-triggered.
int clinux_epoll_set(int epoll, int change, int descriptor, uint32_t token, uint32_t events);

/// Waits for at most `timeout_ns`; for ever if that is negative; not at all if it is 0.
///
/// Never returns before the time is over without telling something, but for -EINTR. The time does not run
/// while the machine is suspended. Where the kernel is older than 5.11, whole milliseconds are waited.
///
/// `capacity` is at most CLINUX_READY_MAX.
int clinux_epoll_wait(int epoll, struct clinux_ready *ready, int capacity, int64_t timeout_ns);

// MARK: Time

/// Microseconds since boot, those in suspend included; no system call where the kernel's page has it.
int64_t clinux_boot_us(void);

/// Microseconds of the clock that stands still in suspend (what sd_notify(3) asks for).
int64_t clinux_monotonic_us(void);

/// A descriptor that becomes readable when the machine comes back from suspend, or its wall clock is set;
/// closed on exec, not blocking.
int clinux_clock_watch_open(void);

/// Makes it unreadable again; `real_us` is a moment of the wall clock at which it becomes readable in any
/// case, or 0 for none.
int clinux_clock_watch_set(int descriptor, int64_t real_us);

/// A timer on the boot clock that wakes the machine from suspend; closed on exec, not blocking.
///
/// -EPERM without CAP_WAKE_ALARM. Made also where no clock could wake the machine.
int clinux_alarm_open(void);

/// Sets it to a moment of the boot clock, in microseconds; 0 for none.
int clinux_alarm_set(int descriptor, int64_t boot_us);

// MARK: Files of the kernel

/// Reads, as read(2) does, but gives up with -EINTR when nothing came within `timeout_us`, and gives back
/// what failed as a negative error number. Other calls of the process are not disturbed.
ptrdiff_t clinux_read_within(int descriptor, void *bytes, size_t capacity, int64_t timeout_us);

/// Reads a register of one byte of an I2C device, its name and its value in one transfer.
int clinux_i2c_read(int bus, uint16_t address, uint8_t name);

/// Writes a register of one byte.
int clinux_i2c_write(int bus, uint16_t address, uint8_t name, uint8_t value);

/// Switches the machine off: systemd, if it is the first process, is sent the signal for that; else the
/// disks are synced and the kernel is told.
int clinux_power_off(int is_systemd);

// MARK: Signals

/// Blocks `count` signals in the calling thread and makes a descriptor that becomes readable with them.
int clinux_signals_open(const int *signals, int count);

/// The next signal that came; 0 if there is none.
int clinux_signals_next(int descriptor);

// MARK: Sockets

/// Accepts a connection: not blocking, closed on exec.
int clinux_accept(int descriptor);

/// Who is at the other end of a local socket.
struct clinux_peer {
  int32_t pid;
  uint32_t uid;
  uint32_t gid;
};

/// Asks who connected.
int clinux_peer_of(int descriptor, struct clinux_peer *peer);

/// A datagram socket connected to a local address: a path, or a name of the abstract kind with `@` in
/// the place of its zero. Not blocking, closed on exec.
int clinux_datagram_connect(const char *address, size_t length);

// MARK: Programs

/// Starts a program that nobody has to wait for: in a session and with a working folder of its own, all
/// signals as they are at first, standard error as it is here.
///
/// `arguments` and `environment` end with a null pointer; the first argument is the program's absolute path.
/// HOME, USER and PATH are added to at most 29 variables. -ENOENT if there is no such user or program,
/// -EPERM if this process may not become that user. Returns when the program runs, or cannot.
int clinux_start(const char *const *arguments, const char *const *environment, uint32_t uid);

// MARK: Serial lines

/// How a line is set, as the kernel has it, and whether a process has claimed it for itself alone.
typedef struct {
  uint32_t settings[16];
  int32_t is_exclusive;
} clinux_line_state;

/// -ENOTTY if it is no terminal.
int clinux_line_get_state(int descriptor, clinux_line_state *state);

/// Sets the line as it was, and gives it back to everybody unless it was claimed then.
int clinux_line_put_state(int descriptor, const clinux_line_state *state);

/// Takes the line for this process, makes it raw, ignores modem lines, and sets its speed.
///
/// -EBUSY if another process has locked it, -ENOTTY if it is no terminal, -EINVAL if it cannot do that
/// speed within 2 %: the line is then as it was. What had come at another speed is thrown away.
int clinux_line_take(int descriptor, uint32_t baud);

/// Sets the speed, once what was written has left, and throws away what came at the old one.
///
/// Waits no longer than the waiting bytes take at `old_baud`, and half a second.
int clinux_line_set_speed(int descriptor, uint32_t baud, uint32_t old_baud);

/// Throws away what came and was not read.
void clinux_line_forget_input(int descriptor);

/// Bytes that were written and have not left.
int clinux_line_queued(int descriptor);

/// The speed a line is set to, in baud.
int64_t clinux_line_speed(int descriptor);

// MARK: Files

/// Gives a file its size and the disk space for it, all of which reads as zeros where nothing was
/// written; leaves what is there.
int clinux_allocate(int descriptor, int64_t size);

// MARK: Memory

/// Lets the kernel take back the code of the program and its libraries, of which most is for the start: what
/// is used again comes back from the page cache, a few pages at a time. Changes nothing that was written.
/// `library` is a part of the name of the one it is to be; NULL for all and the program.
void clinux_forget_code(const char *library);

/// Has standard output written line by line, also where it is no terminal.
void clinux_line_buffer_output(void);

// The day on which the program was compiled, or that of SOURCE_DATE_EPOCH for a reproducible build.

int build_year(void);
// 1 to 12.
int build_month(void);
// 1 to 31.
int build_day(void);

#endif
