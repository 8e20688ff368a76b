#define _GNU_SOURCE
#include "CMosquitto.h"

#include <dlfcn.h>
#include <errno.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

// A receipt is shorter, also a refusal whose reason has 100 characters, each written as two escapes of six bytes; a longer one
// is ignored.
#define RECEIPT_SIZE 2048
// Receipts that arrive together: the retained one, refusals, and receipts. Of more the newest are kept.
#define RECEIPT_COUNT 8
// Passes of libmosquitto's loop in one wait. It returns at once while a connection is broken in a way that it does not
// detect; the limit prevents that a wait uses the processor until its end.
#define PASSES 4000
// Seconds without a message after which a broker may end a connection. An exchange is shorter, so no ping is sent. Without
// keepalive libmosquitto's loop would not wait at all.
#define KEEPALIVE 600
// Longest wait for an address of the host, in seconds: it may not answer, although the next one does. A fourth SYN packet is
// sent after 7 s.
#define ADDRESS_TIMEOUT 8

struct cmosquitto {
  struct mosquitto *client;
  int uses_version_5, uses_tls;
  int is_connected, is_refused_version, has_ended;
  int is_denied;     // the broker refused the subscription to receipts
  int awaited;       // number of the message whose acknowledgement is awaited; 0 for none
  int publish_code;  // reason code of that acknowledgement
  int is_too_large;  // the broker ended the connection because of a message's size
  int fell_back_to_ipv4;
  int has_receipt;  // whether receipt_count is not 0
  size_t first_receipt, receipt_count;
  struct {
    size_t count;
    char bytes[RECEIPT_SIZE];
  } receipts[RECEIPT_COUNT];  // from first_receipt on, the oldest first
  char receipt[RECEIPT_SIZE];  // the one that was returned last
  char detail[120];     // what libmosquitto logged about TLS
  const char *problem;  // the result of the check of the broker's certificate; NULL if it was accepted
  char reason[320];
};

static void fail(struct cmosquitto *c, const char *what, const char *why) {
  if (!c->reason[0]) snprintf(c->reason, sizeof c->reason, "%s: %s", what, why);
  c->has_ended = 1;
}

// The result of the check of the broker's certificate, by OpenSSL; NULL if it was accepted. libmosquitto has loaded OpenSSL,
// and its headers are not needed for two functions.
static const char *certificate_problem(struct cmosquitto *c) {
  void *ssl = mosquitto_ssl_get(c->client);
  long (*result)(const void *) = (long (*)(const void *))dlsym(RTLD_DEFAULT, "SSL_get_verify_result");
  const char *(*text)(long) = (const char *(*)(long))dlsym(RTLD_DEFAULT, "X509_verify_cert_error_string");
  if (!ssl || !result || !text) return NULL;
  long code = result(ssl);
  return code == 0 ? NULL : text(code);
}

// An error of TLS: what helps depends on which side refused.
static void fail_tls(struct cmosquitto *c) {
  char why[240];
  const char *problem = c->problem ? c->problem : certificate_problem(c);
  if (strstr(c->detail, "host name verification failed")) {
    fail(c, "the broker's certificate is for another host", "write the host that it names into `host`");
  } else if (problem || strstr(c->detail, "certificate verify failed")) {
    snprintf(why, sizeof why, "%s; check that `ca` has its authority, and the date of this board",
             problem ? problem : "verification failed");
    fail(c, "the broker's certificate is not accepted", why);
  } else {
    snprintf(why, sizeof why, "%s; check `port`, `certificate` and `key`, and that the broker accepts this certificate",
             c->detail[0] ? c->detail : "no details");
    fail(c, "TLS failed", why);
  }
}

static void fail_code(struct cmosquitto *c, const char *what, int code) {
  // A broker that refuses the board's certificate ends the connection after the handshake of TLS 1.3.
  if (code == MOSQ_ERR_TLS || (code == MOSQ_ERR_ERRNO && errno == EPROTO && c->uses_tls)) {
    fail_tls(c);
  } else if (code == MOSQ_ERR_ERRNO) {
    fail(c, what, errno == EINTR ? "no answer in time" : strerror(errno));
  } else if (code == MOSQ_ERR_EAI) {
    fail(c, what, "the host name cannot be resolved; check `host` and the network");
  } else {
    fail(c, what, mosquitto_strerror(code));
  }
}

static void on_log(struct mosquitto *client, void *object, int level, const char *text) {
  struct cmosquitto *c = object;
  (void)client;
  if (level != MOSQ_LOG_ERR || c->detail[0]) return;
  // libmosquitto frees the connection of TLS after some errors.
  c->problem = certificate_problem(c);
  const char *last = strrchr(text, ':');
  // "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"
  snprintf(c->detail, sizeof c->detail, "%s", last && !strncmp(text, "OpenSSL", 7) ? last + 1 : text);
}

static void on_connect(struct mosquitto *client, void *object, int code) {
  struct cmosquitto *c = object;
  (void)client;
  if (code == 0) {
    c->is_connected = 1;
    return;
  }
  if (c->uses_version_5 && (code == MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION || code == 1)) c->is_refused_version = 1;
  fail(c, "the broker refused the connection; check `user`, `password_file` and the rules of the broker",
       c->uses_version_5 ? mosquitto_reason_string(code) : mosquitto_connack_string(code));
}

static void on_disconnect(struct mosquitto *client, void *object, int code) {
  struct cmosquitto *c = object;
  (void)client;
  // Brokers that do not know MQTT 5 may close the connection without an answer.
  if (c->uses_version_5 && !c->is_connected && code == MOSQ_ERR_CONN_LOST && !c->detail[0]) c->is_refused_version = 1;
  if (!c->is_connected && c->uses_tls && (code == MOSQ_ERR_TLS || code == MOSQ_ERR_CONN_LOST)) {
    fail_tls(c);
  } else {
    c->is_too_large = c->is_connected && code == MQTT_RC_PACKET_TOO_LARGE;
    // RabbitMQ closes the connection when it denies a topic. 128 and more are reason codes of the broker, in MQTT 5.
    fail(c, c->is_connected ? "the connection ended; if the log of the broker names a denied topic, permit this user to use torpor/DEVICE/#"
                            : "the broker ended the connection without an answer; check `port`, and `ca` if it uses TLS",
         code >= 128 ? mosquitto_reason_string(code) : mosquitto_strerror(code));
  }
}

static void on_subscribe(struct mosquitto *client, void *object, int number, int count, const int *granted) {
  struct cmosquitto *c = object;
  (void)client;
  (void)number;
  if (count == 1 && granted[0] < 128) return;
  c->is_denied = 1;
  fail(c, "the broker refused to send receipts", "permit this user to read the topic torpor/DEVICE/receipt");
}

static void on_publish(struct mosquitto *client, void *object, int number, int code, const mosquitto_property *properties) {
  struct cmosquitto *c = object;
  (void)client;
  (void)properties;
  if (number != c->awaited) return;
  c->awaited = 0;
  c->publish_code = code;
}

static void on_message(struct mosquitto *client, void *object, const struct mosquitto_message *message) {
  struct cmosquitto *c = object;
  (void)client;
  if (message->payloadlen <= 0 || message->payloadlen > RECEIPT_SIZE) return;
  if (c->receipt_count == RECEIPT_COUNT) {
    c->first_receipt = (c->first_receipt + 1) % RECEIPT_COUNT;
    c->receipt_count--;
  }
  size_t slot = (c->first_receipt + c->receipt_count) % RECEIPT_COUNT;
  c->receipts[slot].count = (size_t)message->payloadlen;
  memcpy(c->receipts[slot].bytes, message->payload, c->receipts[slot].count);
  c->receipt_count++;
  c->has_receipt = 1;
}

static long long now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Handles the socket until *flag has the value, the connection ends or the time is over.
static enum cmosquitto_result run_until(struct cmosquitto *c, const int *flag, int value, long long end) {
  for (int pass = 0; *flag != value; pass++) {
    long long left = end - now_ms();
    if (pass == PASSES) fail(c, "the connection failed", "it makes no progress");
    if (c->has_ended) return c->is_refused_version ? CMOSQUITTO_OLD_BROKER : CMOSQUITTO_FAILED;
    if (left <= 0) return CMOSQUITTO_TIMEOUT;
    int code = mosquitto_loop(c->client, (int)left, 1);
    if (code != MOSQ_ERR_SUCCESS && !c->has_ended) fail_code(c, "the connection failed", code);
  }
  return CMOSQUITTO_DONE;
}

static int configure(struct cmosquitto *c, const struct cmosquitto_settings *s) {
  int code = mosquitto_int_option(c->client, MOSQ_OPT_PROTOCOL_VERSION,
                                  s->uses_version_5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311);
  if (code == MOSQ_ERR_SUCCESS && s->user) code = mosquitto_username_pw_set(c->client, s->user, s->password);
  if (code == MOSQ_ERR_SUCCESS && s->authority) {
    code = mosquitto_tls_set(c->client, s->authority, NULL, s->certificate, s->key, NULL);
    // 1.2 or newer; 1 requires a valid certificate of the broker.
    if (code == MOSQ_ERR_SUCCESS) code = mosquitto_tls_opts_set(c->client, 1, "tlsv1.2", NULL);
  }
  mosquitto_log_callback_set(c->client, on_log);
  mosquitto_connect_callback_set(c->client, on_connect);
  mosquitto_disconnect_callback_set(c->client, on_disconnect);
  mosquitto_subscribe_callback_set(c->client, on_subscribe);
  mosquitto_publish_v5_callback_set(c->client, on_publish);
  mosquitto_message_callback_set(c->client, on_message);
  return code;
}

static volatile sig_atomic_t interrupts;
static long long connect_end;

// Ends the attempt with one address; at the end of the time, those with all further ones.
static void interrupt(int number) {
  (void)number;
  int saved = errno;
  struct itimerval often = {{0, 10000}, {0, 10000}};
  interrupts++;
  if (now_ms() >= connect_end) setitimer(ITIMER_REAL, &often, NULL);
  errno = saved;
}

// mosquitto_connect tries the addresses of the host one after another, each as long as the kernel sends SYN packets, two
// minutes: a timer interrupts it.
static int connect_within(struct cmosquitto *c, const struct cmosquitto_settings *s, int timeout_ms) {
  struct sigaction action, previous;
  memset(&action, 0, sizeof action);
  action.sa_handler = interrupt;
  sigaction(SIGALRM, &action, &previous);
  interrupts = 0;
  connect_end = now_ms() + timeout_ms;
  long first_ms = timeout_ms < ADDRESS_TIMEOUT * 1000 ? timeout_ms : ADDRESS_TIMEOUT * 1000;
  struct itimerval timer = {{ADDRESS_TIMEOUT, 0}, {first_ms / 1000, first_ms % 1000 * 1000 + 1}};
  struct itimerval off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &timer, NULL);
  // An address of IPv6 cannot be reached from this local one, and is skipped.
  const char *local = s->uses_ipv4_only ? "0.0.0.0" : NULL;
  int code = mosquitto_connect_bind(c->client, s->host, s->port, KEEPALIVE, local);
  int number = errno;
  setitimer(ITIMER_REAL, &off, NULL);
  sigaction(SIGALRM, &previous, NULL);
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer;
  c->fell_back_to_ipv4 = code == MOSQ_ERR_SUCCESS && interrupts > 0 &&
                         getpeername(mosquitto_socket(c->client), (struct sockaddr *)&peer, &size) == 0 &&
                         peer.ss_family == AF_INET;
  errno = number;
  return code;
}

struct cmosquitto *cmosquitto_open(const struct cmosquitto_settings *s, int timeout_ms,
                                   enum cmosquitto_result *result) {
  struct cmosquitto *c = calloc(1, sizeof *c);
  *result = CMOSQUITTO_FAILED;
  if (!c) return NULL;
  mosquitto_lib_init();
  c->uses_version_5 = s->uses_version_5;
  c->uses_tls = s->authority != NULL;
  c->client = mosquitto_new(s->client_id, true, c);
  if (!c->client) {
    fail(c, "libmosquitto failed", strerror(errno));
    return c;
  }
  long long end = now_ms() + timeout_ms;
  int code = configure(c, s);
  if (code != MOSQ_ERR_SUCCESS) {
    fail_code(c, "the settings of the connection are refused", code);
    return c;
  }
  code = connect_within(c, s, timeout_ms);
  if (code != MOSQ_ERR_SUCCESS) {
    fail_code(c, "cannot connect", code);
    return c;
  }
  *result = run_until(c, &c->is_connected, 1, end);
  if (*result != CMOSQUITTO_DONE) return c;
  // QoS 0: the store sends a receipt again after each message. With QoS 1, NATS creates a replicated consumer for each
  // connection, which costs three to five times the processor time (Docs/Explanation/uplink-scale.md).
  code = mosquitto_subscribe(c->client, NULL, s->receipts, 0);
  // The broker handles it before the first message, whose acknowledgement is awaited.
  if (code != MOSQ_ERR_SUCCESS) {
    fail_code(c, "cannot subscribe", code);
    *result = CMOSQUITTO_FAILED;
  }
  return c;
}

enum cmosquitto_result cmosquitto_publish(struct cmosquitto *c, const char *topic, const void *bytes, size_t count,
                                          int is_retained, int timeout_ms) {
  int number = 0;
  int code = mosquitto_publish(c->client, &number, topic, (int)count, bytes, 1, is_retained != 0);
  if (code != MOSQ_ERR_SUCCESS) {
    if (code == MOSQ_ERR_OVERSIZE_PACKET || code == MOSQ_ERR_PAYLOAD_SIZE) return CMOSQUITTO_TOO_LARGE;
    fail_code(c, "cannot publish", code);
    return CMOSQUITTO_LOST;
  }
  c->awaited = number;
  c->publish_code = 0;
  enum cmosquitto_result result = run_until(c, &c->awaited, 0, now_ms() + timeout_ms);
  if (result == CMOSQUITTO_FAILED && !c->is_denied) return c->is_too_large ? CMOSQUITTO_LOST_TOO_LARGE : CMOSQUITTO_LOST;
  if (result == CMOSQUITTO_DONE && c->publish_code == MQTT_RC_PACKET_TOO_LARGE) return CMOSQUITTO_TOO_LARGE;
  if (result == CMOSQUITTO_DONE && c->publish_code >= 128) {
    fail(c, "the broker refused the message; permit this user to write the topics of this board",
         mosquitto_reason_string(c->publish_code));
    return CMOSQUITTO_FAILED;
  }
  return result;
}

int cmosquitto_has_no_subscriber(const struct cmosquitto *c) {
  return c->publish_code == MQTT_RC_NO_MATCHING_SUBSCRIBERS;
}

int cmosquitto_fell_back_to_ipv4(const struct cmosquitto *c) { return c->fell_back_to_ipv4; }

enum cmosquitto_result cmosquitto_receipt(struct cmosquitto *c, int timeout_ms, const void **bytes, size_t *count) {
  enum cmosquitto_result result = run_until(c, &c->has_receipt, 1, now_ms() + timeout_ms);
  if (result != CMOSQUITTO_DONE) return result;
  *count = c->receipts[c->first_receipt].count;
  memcpy(c->receipt, c->receipts[c->first_receipt].bytes, *count);
  c->first_receipt = (c->first_receipt + 1) % RECEIPT_COUNT;
  c->receipt_count--;
  c->has_receipt = c->receipt_count > 0;
  *bytes = c->receipt;
  return CMOSQUITTO_DONE;
}

const char *cmosquitto_reason(const struct cmosquitto *c) {
  return c->reason[0] ? c->reason : "no answer in time";
}

void cmosquitto_close(struct cmosquitto *c) {
  if (c->client) {
    mosquitto_disconnect(c->client);
    mosquitto_destroy(c->client);
  }
  mosquitto_lib_cleanup();
  free(c);
}
