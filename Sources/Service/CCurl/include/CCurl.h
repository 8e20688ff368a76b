// One HTTP request through libcurl, and compression with zlib, on the thread of the caller. Both libraries are loaded when
// they are first used, so a program without an HTTP destination does not need them. Only a shim: it makes no decisions.
#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>

// A request. A NULL pointer omits a setting.
struct ccurl_request {
  const char *url;
  const char *authorization;  // a complete header line
  const char *authority;      // file with the certificates of authorities, instead of the system's
  const char *certificate;
  const char *key;
  const void *body;  // compressed with gzip
  size_t count;
  int timeout_ms;
};

// The answer to a request.
struct ccurl_answer {
  int status;          // 0 without an answer; then the text is the reason
  char *text;          // the start of the answer, in the caller's buffer; the rest is ignored
  size_t capacity;     // size of the buffer
  size_t count;        // bytes of the text
};

// Whether the libraries can be loaded.
int ccurl_is_available(void);
// Compresses bytes with gzip. Returns the size of the result, at most `capacity`; 0 if it is larger, or without zlib.
size_t ccurl_compress(const void *bytes, size_t count, void *result, size_t capacity);
// Sends a POST request with JSON and waits for the answer. Redirects are not followed. The caller sets text and capacity.
void ccurl_post(const struct ccurl_request *request, struct ccurl_answer *answer);

#endif
