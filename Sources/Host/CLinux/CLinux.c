#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int result(int value) { return value < 0 ? -errno : value; }

// MARK: Waiting

int clinux_epoll_open(void) { return result(epoll_create1(EPOLL_CLOEXEC)); }

int clinux_epoll_set(int epoll, int change, int descriptor, uint32_t token, uint32_t events) {
  static const int changes[] = {EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
  struct epoll_event event = {.data = {.u32 = token}};
  if (events & CLINUX_READABLE) event.events |= EPOLLIN | EPOLLRDHUP;
  if (events & CLINUX_WRITABLE) event.events |= EPOLLOUT;
  if (events & CLINUX_CHANGED) event.events |= EPOLLPRI;
  if (events & CLINUX_BLOCKS_SUSPEND) event.events |= EPOLLWAKEUP;
  return result(epoll_ctl(epoll, changes[change], descriptor, &event));
}

static int wait_ns(int epoll, struct epoll_event *found, int capacity, int64_t timeout_ns) {
#ifdef SYS_epoll_pwait2
  static atomic_bool is_unknown = false;
  // The kernel's timespec has 64-bit fields on every machine, unlike the C library's.
  struct {
    int64_t seconds, nanoseconds;
  } time = {timeout_ns / 1000000000, timeout_ns % 1000000000};
  if (timeout_ns > 0 && !atomic_load_explicit(&is_unknown, memory_order_relaxed)) {
    int count = (int)syscall(SYS_epoll_pwait2, epoll, found, capacity, &time, NULL, 0);
    if (count >= 0 || errno != ENOSYS) return result(count);
    atomic_store_explicit(&is_unknown, true, memory_order_relaxed);
  }
#endif
  // Round up: a wait that ends early would be a needless wake.
  int64_t whole_ms = timeout_ns < 0 ? -1 : timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
  int timeout_ms = whole_ms > 1000000000 ? 1000000000 : (int)whole_ms;
  return result(epoll_wait(epoll, found, capacity, timeout_ms));
}

int clinux_epoll_wait(int epoll, struct clinux_ready *ready, int capacity, int64_t timeout_ns) {
  struct epoll_event found[CLINUX_READY_MAX];
  if (capacity > CLINUX_READY_MAX) capacity = CLINUX_READY_MAX;
  int count = wait_ns(epoll, found, capacity, timeout_ns);
  for (int i = 0; i < count; i++) {
    uint32_t events = found[i].events;
    ready[i].token = found[i].data.u32;
    ready[i].events = (events & EPOLLIN ? CLINUX_READABLE : 0) |
                      (events & EPOLLOUT ? CLINUX_WRITABLE : 0) |
                      (events & EPOLLPRI ? CLINUX_CHANGED : 0) |
                      (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP) ? CLINUX_GONE : 0);
  }
  return count;
}

// MARK: Time

static int64_t clock_us(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

int64_t clinux_boot_us(void) { return clock_us(CLOCK_BOOTTIME); }

int64_t clinux_monotonic_us(void) { return clock_us(CLOCK_MONOTONIC); }

int64_t clinux_wall_us(void) { return clock_us(CLOCK_REALTIME); }

static int64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// `clock` at zero of CLOCK_BOOTTIME: of eight readings that with the shortest span.
static int64_t at_boot_ns(clockid_t clock) {
  int64_t offset_ns = 0, shortest_ns = INT64_MAX;
  for (int i = 0; i < 8 && shortest_ns > 1000; i++) {
    int64_t before_ns = clock_ns(CLOCK_BOOTTIME);
    int64_t time_ns = clock_ns(clock);
    int64_t span_ns = clock_ns(CLOCK_BOOTTIME) - before_ns;
    if (span_ns >= shortest_ns) continue;
    shortest_ns = span_ns;
    offset_ns = time_ns - (before_ns + span_ns / 2);
  }
  return offset_ns;
}

int64_t clinux_wall_time_at_boot_ns(void) { return at_boot_ns(CLOCK_REALTIME); }

int64_t clinux_monotonic_at_boot_ns(void) { return at_boot_ns(CLOCK_MONOTONIC); }

int clinux_clock_watch_open(void) {
  int descriptor = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (descriptor < 0) return -errno;
  int error = clinux_clock_watch_set(descriptor, 0);
  if (error == 0) return descriptor;
  close(descriptor);
  return error;
}

int clinux_clock_watch_set(int descriptor, int64_t real_us) {
  // With `real_us` 0 the timer never expires. In any case the kernel cancels it when the offset between wall clock and
  // monotonic clock changes, as after a suspend; the descriptor is then readable.
  const time_t never = (time_t)((UINT64_C(1) << (sizeof(time_t) * 8 - 1)) - 1);
  struct itimerspec moment = {.it_value = {.tv_sec = never}};
  if (real_us != 0) {
    moment.it_value.tv_sec = (time_t)(real_us / 1000000);
    moment.it_value.tv_nsec = (long)(real_us % 1000000) * 1000;
  }
  const int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  // After a change the call succeeds, but still returns ECANCELED.
  if (timerfd_settime(descriptor, flags, &moment, NULL) == 0 || errno == ECANCELED) return 0;
  return -errno;
}

int clinux_alarm_open(void) {
  return result(timerfd_create(CLOCK_BOOTTIME_ALARM, TFD_CLOEXEC | TFD_NONBLOCK));
}

int clinux_alarm_set(int descriptor, int64_t boot_us) {
  struct itimerspec moment = {.it_value = {.tv_sec = (time_t)(boot_us / 1000000),
                                           .tv_nsec = (long)(boot_us % 1000000) * 1000}};
  return result(timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &moment, NULL));
}

// MARK: Kernel files

static void do_nothing(int signal) { (void)signal; }

ptrdiff_t clinux_read_within(int descriptor, void *bytes, size_t capacity, int64_t timeout_us) {
  // Without SA_RESTART, so that the signal interrupts the read. The handler stays installed for a late signal.
  struct sigaction action = {.sa_handler = do_nothing};
  if (sigaction(SIGALRM, &action, NULL) < 0) return -errno;
  sigset_t mask, before;
  sigemptyset(&mask);
  sigaddset(&mask, SIGALRM);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0) return -errno;
  // Periodic, because the first signal may arrive before the read starts.
  struct timespec time = {(time_t)(timeout_us / 1000000), (long)(timeout_us % 1000000) * 1000};
  struct itimerspec moment = {.it_interval = time, .it_value = time};
  ptrdiff_t count = -1;
  pthread_sigmask(SIG_UNBLOCK, &mask, &before);
  if (timer_settime(timer, 0, &moment, NULL) == 0) count = read(descriptor, bytes, capacity);
  int code = errno;
  timer_delete(timer);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return count < 0 ? -code : count;
}

static int transfer(int bus, struct i2c_msg *messages, uint32_t count) {
  struct i2c_rdwr_ioctl_data transfers = {messages, count};
  return ioctl(bus, I2C_RDWR, &transfers) < 0 ? -errno : 0;
}

int clinux_i2c_read(int bus, uint16_t address, uint8_t register_number) {
  uint8_t value = 0;
  struct i2c_msg messages[] = {{.addr = address, .len = 1, .buf = &register_number},
                               {.addr = address, .flags = I2C_M_RD, .len = 1, .buf = &value}};
  int code = transfer(bus, messages, 2);
  return code < 0 ? code : value;
}

int clinux_i2c_write(int bus, uint16_t address, uint8_t register_number, uint8_t value) {
  uint8_t bytes[] = {register_number, value};
  struct i2c_msg message = {.addr = address, .len = 2, .buf = bytes};
  return transfer(bus, &message, 1);
}

int clinux_power_off(int is_systemd) {
  // systemd(1): this signal starts the unit poweroff.target.
  if (is_systemd) return result(kill(1, SIGRTMIN + 4));
  sync();
  return result(reboot(RB_POWER_OFF));
}

// MARK: Signals

int clinux_signals_open(const int *signals, int count) {
  sigset_t mask;
  sigemptyset(&mask);
  for (int i = 0; i < count; i++) sigaddset(&mask, signals[i]);
  int descriptor = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) return -errno;
  int error = pthread_sigmask(SIG_BLOCK, &mask, NULL);
  if (error == 0) return descriptor;
  close(descriptor);
  return -error;
}

int clinux_signals_next(int descriptor) {
  struct signalfd_siginfo info;
  ssize_t count = read(descriptor, &info, sizeof info);
  if (count == sizeof info) return (int)info.ssi_signo;
  return count < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

// MARK: Sockets

int clinux_accept(int descriptor) {
  return result(accept4(descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int clinux_peer_of(int descriptor, struct clinux_peer *peer) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -errno;
  peer->pid = credentials.pid;
  peer->uid = credentials.uid;
  peer->gid = credentials.gid;
  return 0;
}

int clinux_datagram_connect(const char *address, size_t length) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  if (length < 2 || (address[0] != '/' && address[0] != '@')) return -EINVAL;
  if (length >= sizeof name.sun_path) return -ENAMETOOLONG;
  memcpy(name.sun_path, address, length);
  if (address[0] == '@') name.sun_path[0] = 0;
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  // In an abstract name every byte counts, and there is no terminator.
  socklen_t size =
      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (address[0] == '/'));
  if (connect(descriptor, (struct sockaddr *)&name, size) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  return -error;
}

// MARK: Files

int clinux_allocate(int descriptor, int64_t size) {
  if (fallocate(descriptor, 0, 0, size) == 0) return 0;
  if (errno != EOPNOTSUPP) return -errno;
  // The file system does not support it: write the missing bytes.
  struct stat status;
  if (fstat(descriptor, &status) < 0) return -errno;
  static const char zeros[4096];
  for (int64_t offset = status.st_size; offset < size;) {
    size_t part = size - offset < (int64_t)sizeof zeros ? (size_t)(size - offset) : sizeof zeros;
    ssize_t written = pwrite(descriptor, zeros, part, offset);
    if (written < 0 && errno != EINTR) return -errno;
    if (written > 0) offset += written;
  }
  return 0;
}

// MARK: Memory

static int release_code_pages(struct dl_phdr_info *object, size_t size, void *name) {
  (void)size;
  if (name && !strstr(object->dlpi_name, name)) return 0;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
    uintptr_t start = (object->dlpi_addr + part->p_vaddr + page - 1) / page * page;
    uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_memsz) / page * page;
    // Read-only file-backed pages have the same content when they are loaded again.
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void clinux_release_code(const char *library) {
  dl_iterate_phdr(release_code_pages, (void *)library);
}

void clinux_line_buffer_output(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
