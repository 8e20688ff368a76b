#ifndef TORPOR_CLINUX_H
#define TORPOR_CLINUX_H

// Linux interfaces that are missing from the C library's Swift module. Plain functions without state; an error is
// returned as a negative error number, so that callers need not read `errno`.

#include <stddef.h>
#include <stdint.h>

// MARK: Waiting

/// A ready descriptor, by its token.
struct clinux_ready {
  uint32_t token;
  uint32_t events;
};

/// Bits of `events`. CLINUX_GONE is always reported. CLINUX_CHANGED is for files of the kernel that signal changes,
/// which then report CLINUX_GONE, too.
enum {
  CLINUX_READABLE = 1,
  CLINUX_WRITABLE = 2,
  CLINUX_GONE = 4,
  CLINUX_CHANGED = 8,
  /// Input only: a ready descriptor blocks suspend. Needs CAP_BLOCK_SUSPEND.
  CLINUX_BLOCKS_SUSPEND = 16,
};

/// Operations of clinux_epoll_set().
enum {
  CLINUX_ADD = 0,
  CLINUX_CHANGE = 1,
  CLINUX_REMOVE = 2,
};

/// Maximum number of descriptors that one wait reports.
enum { CLINUX_READY_MAX = 64 };

/// Creates an epoll descriptor; closed on exec.
int clinux_epoll_open(void);

/// Adds, changes or removes a descriptor; level-triggered.
int clinux_epoll_set(int epoll, int change, int descriptor, uint32_t token, uint32_t events);

/// Waits for at most `timeout_ns`; without limit if that is negative; not at all if it is 0.
///
/// Does not return early without a ready descriptor, except with -EINTR. The timeout does not run while the machine is
/// suspended. Kernels older than 5.11 have a resolution of 1 ms.
///
/// `capacity` is at most CLINUX_READY_MAX.
int clinux_epoll_wait(int epoll, struct clinux_ready *ready, int capacity, int64_t timeout_ns);

// MARK: Time

/// Microseconds since boot, including suspend; without a system call if the vDSO supports it.
int64_t clinux_boot_us(void);

/// Microseconds of CLOCK_MONOTONIC, which stops during suspend (required by sd_notify(3)).
int64_t clinux_monotonic_us(void);

/// Microseconds since 1970 of CLOCK_REALTIME.
int64_t clinux_wall_us(void);

/// Nanoseconds of CLOCK_REALTIME at zero of CLOCK_BOOTTIME. Both clocks are read within a microsecond of each other,
/// unless all of eight attempts are interrupted.
int64_t clinux_wall_time_at_boot_ns(void);

/// The same for CLOCK_MONOTONIC: the time for which the machine was suspended, negated.
int64_t clinux_monotonic_at_boot_ns(void);

/// Opens a descriptor that becomes readable when the machine resumes from suspend or its wall clock is set; closed on
/// exec, non-blocking.
int clinux_clock_watch_open(void);

/// Re-arms that descriptor. `real_us` is a time of the wall clock at which it becomes readable in any case, or 0 for
/// none.
int clinux_clock_watch_set(int descriptor, int64_t real_us);

/// Opens a timer on the boot clock that wakes the machine from suspend; closed on exec, non-blocking.
///
/// -EPERM without CAP_WAKE_ALARM. Succeeds even if no clock can wake the machine.
int clinux_alarm_open(void);

/// Sets the timer to a time of the boot clock in microseconds; 0 for none.
int clinux_alarm_set(int descriptor, int64_t boot_us);

// MARK: Kernel files

/// Reads like read(2), but returns -EINTR if nothing arrived within `timeout_us`, and other errors as negative error
/// numbers. Does not disturb other calls of the process.
ptrdiff_t clinux_read_within(int descriptor, void *bytes, size_t capacity, int64_t timeout_us);

/// Reads a one-byte register of an I2C device in one transfer.
int clinux_i2c_read(int bus, uint16_t address, uint8_t register_number);

/// Writes a one-byte register.
int clinux_i2c_write(int bus, uint16_t address, uint8_t register_number, uint8_t value);

/// Switches the machine off: by a signal to systemd if `is_systemd`; else syncs the disks and calls the kernel.
int clinux_power_off(int is_systemd);

// MARK: Signals

/// Blocks `count` signals in the calling thread and opens a descriptor that becomes readable when one arrives.
int clinux_signals_open(const int *signals, int count);

/// The next received signal; 0 if none exists.
int clinux_signals_next(int descriptor);

// MARK: Sockets

/// Accepts a connection; non-blocking, closed on exec.
int clinux_accept(int descriptor);

/// Credentials of the peer of a local socket.
struct clinux_peer {
  int32_t pid;
  uint32_t uid;
  uint32_t gid;
};

/// Reads the credentials of the peer.
int clinux_peer_of(int descriptor, struct clinux_peer *peer);

/// Connects a datagram socket to a local address: a path, or an abstract name with `@` in place of its NUL.
/// Non-blocking, closed on exec.
int clinux_datagram_connect(const char *address, size_t length);

/// Sends a user ID with a descriptor over a local socket. One system call; blocks if the socket does.
int clinux_send_descriptor(int socket, uint32_t uid, int descriptor);

/// Receives a user ID with a descriptor, which is closed on exec. One system call.
///
/// 1 if one was received, 0 at the end of the input, -EBADMSG for a message without exactly one descriptor, whose other
/// descriptors are closed.
int clinux_receive_descriptor(int socket, uint32_t *uid, int *descriptor);

/// Connects a local stream socket to a path. 0, or a negative error number; -ENAMETOOLONG if the path has more than 107
/// bytes.
int clinux_path_connect(int opened, const char *path);

/// Connects to a local stream socket; closed on exec. Sending never blocks longer than a second.
int clinux_local_connect(const char *path);

/// Opens a descriptor for the kernel's lists of sockets; closed on exec.
int clinux_socket_list_open(void);

/// Whether a listening TCP socket is found in the kernel's lists: 0, or -ENOENT if the kernel has no such list.
int clinux_socket_list_check(int list, int listener);

/// The user of the process that has connected to an accepted TCP connection from this machine.
///
/// An exact look-up, which does not list other sockets. -ENOENT if the peer is not on this machine, or has closed its
/// socket.
int clinux_tcp_peer_user(int list, int connection, uint32_t *uid);

/// Opens a socket that listens on a TCP port of the loopback address, of IPv6 if `is_ipv6`; closed on exec,
/// non-blocking.
int clinux_tcp_listen(int is_ipv6, uint16_t port);

/// Sends small writes at once, and makes the descriptor non-blocking.
void clinux_tcp_configure(int connection);

// MARK: Programs

/// Starts a program that is not a child of this process: in a new session, with working directory `/`, default signal
/// handlers, and this process's standard error.
///
/// `arguments` and `environment` end with a null pointer; the first argument is the program's absolute path. HOME,
/// USER and PATH are added to at most 29 variables. -ENOENT if there is no such user or program, -EPERM if this
/// process may not become that user. Returns when the program runs, or has failed to start.
int clinux_start(const char *const *arguments, const char *const *environment, uint32_t uid);

// MARK: Serial lines

/// Settings of a line in the kernel's format, and whether a process has set it to exclusive mode.
typedef struct {
  uint32_t settings[16];
  int32_t is_exclusive;
} clinux_line_state;

/// Reads the state of a line; -ENOTTY if it is no terminal.
int clinux_line_get_state(int descriptor, clinux_line_state *state);

/// Restores the settings of a line, and ends exclusive mode unless it is set in `state`.
int clinux_line_restore_state(int descriptor, const clinux_line_state *state);

/// Sets raw mode with 8 data bits, no parity and one stop bit, ignores modem lines, and sets the speed; 0 leaves the speed.
///
/// -ENOTTY if it is no terminal, -EINVAL if it does not support that speed within 2 %: the settings are then unchanged.
/// Discards input received at another speed.
int clinux_line_configure(int descriptor, uint32_t baud);

/// Locks the line for this process and configures it.
///
/// -EBUSY if another process has locked it, or an error of `clinux_line_configure`.
int clinux_line_claim(int descriptor, uint32_t baud);

/// Sets the speed after all written bytes were sent, and discards input received at the old one.
///
/// Waits at most for the time to send the queued bytes at `old_baud`, and 0.5 s more.
int clinux_line_set_speed(int descriptor, uint32_t baud, uint32_t old_baud);

/// Discards received bytes that were not read.
void clinux_line_discard_input(int descriptor);

/// Number of bytes written but not sent yet.
int clinux_line_queued(int descriptor);

/// Speed of a line in baud.
int64_t clinux_line_speed(int descriptor);

// MARK: Files

/// Sets the size of a file and allocates its disk space. Unwritten bytes read as zeros; existing content stays.
int clinux_allocate(int descriptor, int64_t size);

// MARK: Memory

/// Releases the read-only pages (code and constants) of the program and its libraries, most of which are needed only at
/// the start. Pages that are used again come back from the page cache. `library` is part of the name of one library;
/// NULL means all libraries and the program.
void clinux_release_code(const char *library);

/// Sets standard output to line buffering, also if it is no terminal.
void clinux_line_buffer_output(void);

// Date of compilation, or of SOURCE_DATE_EPOCH in a reproducible build.

int build_year(void);
// 1 to 12.
int build_month(void);
// 1 to 31.
int build_day(void);

#endif
