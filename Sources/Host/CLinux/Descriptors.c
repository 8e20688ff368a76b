#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

// Descriptors between processes, and the users of local TCP connections.

static int result(int value) { return value < 0 ? -errno : value; }

// MARK: Passing descriptors

// More than one, so that the kernel passes surplus descriptors here instead of only truncating them.
enum { DESCRIPTORS_MAX = 4 };

union control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
};

int clinux_send_descriptor(int socket, uint32_t uid, int descriptor) {
  union control control = {0};
  struct iovec part = {&uid, sizeof uid};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = CMSG_SPACE(sizeof(int))};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : sent == sizeof uid ? 0 : -EMSGSIZE;
}

int clinux_receive_descriptor(int socket, uint32_t *uid, int *descriptor) {
  union control control;
  struct iovec part = {uid, sizeof *uid};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0) return -errno;
  int found[DESCRIPTORS_MAX], count = 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int here = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < here; i++) {
      int one;
      memcpy(&one, CMSG_DATA(header) + (size_t)i * sizeof one, sizeof one);
      if (count < DESCRIPTORS_MAX) {
        found[count++] = one;
      } else {
        close(one);
      }
    }
  }
  if (received == 0 && count == 0) return 0;
  if (received == sizeof *uid && count == 1 && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
    *descriptor = found[0];
    return 1;
  }
  for (int i = 0; i < count; i++) close(found[i]);
  return -EBADMSG;
}

int clinux_path_connect(int opened, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
  strcpy(address.sun_path, path);
  return result(connect(opened, (struct sockaddr *)&address, sizeof address));
}

int clinux_local_connect(const char *path) {
  int opened = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (opened < 0) return -errno;
  struct timeval limit = {.tv_sec = 1};
  int code = result(setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
  if (code == 0) code = clinux_path_connect(opened, path);
  if (code == 0) return opened;
  close(opened);
  return code;
}

// MARK: Users of TCP connections

int clinux_socket_list_open(void) {
  return result(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
}

// Copies the port and the host of a TCP address. Returns 0, or -EAFNOSUPPORT.
static int copy_address(const struct sockaddr_storage *from, __be16 *port, __be32 *host) {
  if (from->ss_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    *port = four->sin_port;
    memcpy(host, &four->sin_addr, sizeof four->sin_addr);
    return 0;
  }
  if (from->ss_family != AF_INET6) return -EAFNOSUPPORT;
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
  *port = six->sin6_port;
  memcpy(host, &six->sin6_addr, sizeof six->sin6_addr);
  return 0;
}

// Puts the peer's socket into the request: its source is our destination.
static int put_addresses(struct inet_diag_sockid *id, int connection, uint8_t *family) {
  struct sockaddr_storage own, peer;
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (getsockname(connection, (struct sockaddr *)&own, &own_size) < 0) return -errno;
  if (getpeername(connection, (struct sockaddr *)&peer, &peer_size) < 0) return -errno;
  if (own.ss_family != peer.ss_family) return -ENOENT;
  *family = (uint8_t)own.ss_family;
  int error = copy_address(&peer, &id->idiag_sport, id->idiag_src);
  if (error == 0) error = copy_address(&own, &id->idiag_dport, id->idiag_dst);
  return error < 0 ? -ENOENT : 0;
}

// Asks the kernel for one socket. Returns 0 and the socket, or a negative error number.
static int look_up(int list, uint8_t family, const struct inet_diag_sockid *id, struct inet_diag_msg *found) {
  static uint32_t sequence = 0;
  struct {
    struct nlmsghdr header;
    struct inet_diag_req_v2 body;
  } request = {.header = {.nlmsg_len = sizeof request,
                          .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                          .nlmsg_flags = NLM_F_REQUEST,
                          .nlmsg_seq = ++sequence},
               .body = {.sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0U, .id = *id}};
  request.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (send(list, &request, sizeof request, 0) < 0) return -errno;
  union {
    struct nlmsghdr header;
    char bytes[4096];
  } answer;
  // Answers to earlier requests whose wait was interrupted are skipped.
  for (;;) {
    ssize_t size = recv(list, answer.bytes, sizeof answer.bytes, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return -errno;
    if (!NLMSG_OK(&answer.header, (size_t)size) || answer.header.nlmsg_seq != sequence) continue;
    if (answer.header.nlmsg_type == NLMSG_ERROR) {
      const struct nlmsgerr *failure = NLMSG_DATA(&answer.header);
      return failure->error < 0 ? failure->error : -ENOENT;
    }
    if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY) continue;
    if (answer.header.nlmsg_len < NLMSG_LENGTH(sizeof *found)) return -EBADMSG;
    memcpy(found, NLMSG_DATA(&answer.header), sizeof *found);
    return 0;
  }
}

int clinux_socket_list_check(int list, int listener) {
  struct sockaddr_storage own;
  socklen_t size = sizeof own;
  if (getsockname(listener, (struct sockaddr *)&own, &size) < 0) return -errno;
  struct inet_diag_sockid id = {0};
  int error = copy_address(&own, &id.idiag_sport, id.idiag_src);
  struct inet_diag_msg found;
  return error < 0 ? error : look_up(list, (uint8_t)own.ss_family, &id, &found);
}

int clinux_tcp_peer_user(int list, int connection, uint32_t *uid) {
  struct inet_diag_sockid id = {0};
  uint8_t family;
  struct inet_diag_msg found;
  int error = put_addresses(&id, connection, &family);
  if (error == 0) error = look_up(list, family, &id, &found);
  if (error < 0) return error;
  // Without such a connection the kernel finds a socket that listens on the port, which is that of another program.
  if (found.id.idiag_sport != id.idiag_sport || found.id.idiag_dport != id.idiag_dport) return -ENOENT;
  // A socket that no process holds any more has no inode, and the kernel reports user 0 for it.
  if (found.idiag_inode == 0) return -ENOENT;
  *uid = found.idiag_uid;
  return 0;
}

// MARK: TCP

int clinux_tcp_listen(int is_ipv6, uint16_t port) {
  int listener = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -errno;
  int on = 1;
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  struct sockaddr_in four = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int failed = setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0;
  if (!failed && is_ipv6) failed = setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0;
  if (!failed) {
    failed = is_ipv6 ? bind(listener, (struct sockaddr *)&six, sizeof six) < 0
                     : bind(listener, (struct sockaddr *)&four, sizeof four) < 0;
  }
  if (!failed) failed = listen(listener, 64) < 0;
  if (!failed) return listener;
  int code = errno;
  close(listener);
  return -code;
}

void clinux_tcp_configure(int connection) {
  int on = 1;
  (void)setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  int flags = fcntl(connection, F_GETFL);
  if (flags >= 0) (void)fcntl(connection, F_SETFL, flags | O_NONBLOCK);
}
