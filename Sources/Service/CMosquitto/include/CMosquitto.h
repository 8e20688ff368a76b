// One exchange with an MQTT broker through libmosquitto: connect, subscribe to the receipts, publish, wait. All calls use the
// thread of the caller. Only a shim: it makes no decisions.
#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <stddef.h>

// How to connect. A NULL pointer omits a setting. All strings are copied.
struct cmosquitto_settings {
  const char *client_id;
  const char *host;
  int port;
  int uses_version_5;  // MQTT 5, else 3.1.1
  int uses_ipv4_only;
  const char *user;
  const char *password;
  const char *authority;  // file with the certificates of authorities: use TLS 1.2 or newer
  const char *certificate;
  const char *key;
  const char *receipts;  // topic to subscribe to
};

// Result of a step.
enum cmosquitto_result {
  CMOSQUITTO_DONE = 0,
  CMOSQUITTO_TIMEOUT = 1,
  CMOSQUITTO_FAILED = 2,      // cmosquitto_reason has the reason
  CMOSQUITTO_OLD_BROKER = 3,  // the broker does not support MQTT 5
  CMOSQUITTO_TOO_LARGE = 4,   // the broker does not accept messages of this size; the connection can be used
  CMOSQUITTO_LOST = 5,        // the connection ended while a message was published
  CMOSQUITTO_LOST_TOO_LARGE = 6,  // the same; the broker gave the size of the message as its reason
};

struct cmosquitto;

// Connects and subscribes; a refused subscription ends the next step. Never NULL, except without memory; *result is the result. Uses SIGALRM meanwhile, to end an
// attempt without an answer: each address of the host gets at most 8 s.
struct cmosquitto *cmosquitto_open(const struct cmosquitto_settings *settings, int timeout_ms,
                                   enum cmosquitto_result *result);
// Whether an address of the host did not answer, and the connection uses IPv4.
int cmosquitto_fell_back_to_ipv4(const struct cmosquitto *connection);
// Publishes with QoS 1 and waits until the broker has acknowledged the message.
enum cmosquitto_result cmosquitto_publish(struct cmosquitto *connection, const char *topic, const void *bytes,
                                          size_t count, int is_retained, int timeout_ms);
// Whether the broker has reported that no program subscribes to the topic of the last message. MQTT 3.1.1 has no such report.
int cmosquitto_has_no_subscriber(const struct cmosquitto *connection);
// Waits for the next receipt. It is valid until the next call.
enum cmosquitto_result cmosquitto_receipt(struct cmosquitto *connection, int timeout_ms, const void **bytes,
                                          size_t *count);
// Why the last step failed.
const char *cmosquitto_reason(const struct cmosquitto *connection);
// Disconnects and frees all memory.
void cmosquitto_close(struct cmosquitto *connection);

#endif
