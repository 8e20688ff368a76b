// HTTP requests through libcurl, and compression with zlib, on the thread of the caller. Each library is loaded when
// it is first used, so a program without an HTTP destination does not need them. Only a shim: it makes no decisions.
#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>

// A request. A NULL pointer omits a setting.
struct ccurl_request {
  const char *url;
  const char *authorization;  // a complete header line
  const char *authority;      // file with the certificates of the only authorities, instead of the system's
  const char *certificate;
  const char *key;
  const void *body;
  size_t count;
  int is_compressed;  // whether the body is compressed with gzip
  int timeout_ms;
};

// The answer to a request.
struct ccurl_answer {
  int status;          // 0 without an answer; then the text is the reason
  char *text;          // the start of the answer, in the caller's buffer; the rest is ignored
  size_t capacity;     // size of the buffer
  size_t count;        // bytes of the text
  int is_cut;          // whether the answer was longer
};

// Requests to one server: its connection is kept from one to the next.
struct ccurl;

// Whether libcurl can be loaded.
int ccurl_is_available(void);
// Prepares requests. NULL without libcurl or memory.
struct ccurl *ccurl_open(void);
// Compresses bytes with gzip. Returns the size of the result, at most `capacity`; 0 if it is larger, or without zlib.
size_t ccurl_compress(const void *bytes, size_t count, void *result, size_t capacity);
// Sends a POST request with JSON and waits for the answer. Redirects are not followed. The caller sets text and capacity.
void ccurl_post(struct ccurl *server, const struct ccurl_request *request, struct ccurl_answer *answer);
// Closes the connection and frees all memory.
void ccurl_close(struct ccurl *server);

#endif
