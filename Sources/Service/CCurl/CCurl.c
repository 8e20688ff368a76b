#include "CCurl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// The declarations of libcurl and zlib that are needed: the build needs neither of them. Their numbers are part of the ABI.
typedef void *curl_handle;
struct curl_list;
enum {
  OPTION_URL = 10002,
  OPTION_WRITE_DATA = 10001,
  OPTION_WRITE_FUNCTION = 20011,
  OPTION_ERROR_TEXT = 10010,
  OPTION_POST_FIELDS = 10015,
  OPTION_POST_SIZE = 60,
  OPTION_HEADERS = 10023,
  OPTION_CERTIFICATE = 10025,
  OPTION_KEY = 10087,
  OPTION_AUTHORITY = 10065,
  OPTION_AUTHORITY_FOLDER = 10097,
  OPTION_TLS_VERSION = 32,
  OPTION_NO_SIGNAL = 99,
  OPTION_TIMEOUT_MS = 155,
  OPTION_PROTOCOLS = 181,
  OPTION_USER_AGENT = 10018,
  INFO_STATUS = 0x200002,
  TLS_1_2 = 6,
  HTTP_AND_HTTPS = 3,
};

struct zlib_stream {
  const unsigned char *next_in;
  unsigned int avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned int avail_out;
  unsigned long total_out;
  const char *message;
  void *state;
  void *(*allocate)(void *, unsigned int, unsigned int);
  void (*release)(void *, void *);
  void *opaque;
  int data_type;
  unsigned long adler;
  unsigned long reserved;
};

static struct {
  int is_tried, is_loaded;
  curl_handle (*init)(void);
  void (*reset)(curl_handle);
  int (*set)(curl_handle, int, ...);
  int (*perform)(curl_handle);
  int (*info)(curl_handle, int, ...);
  void (*cleanup)(curl_handle);
  struct curl_list *(*append)(struct curl_list *, const char *);
  void (*release)(struct curl_list *);
  const char *(*text)(int);
} curl;

static struct {
  int is_tried, is_loaded;
  int (*init)(struct zlib_stream *, int, int, int, int, int, const char *, int);
  int (*deflate)(struct zlib_stream *, int);
  int (*end)(struct zlib_stream *);
} zlib;

struct symbol {
  const char *name;
  void *to;
};

// Finds the functions of the first library of these names that can be loaded. Returns whether it has all of them.
static int load(const char *const names[], size_t name_count, const struct symbol symbols[], size_t symbol_count) {
  void *library = NULL;
  for (size_t i = 0; i < name_count && !library; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
  for (size_t i = 0; i < symbol_count; i++) {
    void *found = dlsym(library, symbols[i].name);
    if (!found) return 0;
    memcpy(symbols[i].to, &found, sizeof found);
  }
  return 1;
}

int ccurl_is_available(void) {
  if (curl.is_tried) return curl.is_loaded;
  curl.is_tried = 1;
  static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  const struct symbol symbols[] = {
      {"curl_easy_init", &curl.init},           {"curl_easy_reset", &curl.reset},
      {"curl_easy_setopt", &curl.set},          {"curl_easy_perform", &curl.perform},
      {"curl_easy_getinfo", &curl.info},        {"curl_easy_cleanup", &curl.cleanup},
      {"curl_slist_append", &curl.append},      {"curl_slist_free_all", &curl.release},
      {"curl_easy_strerror", &curl.text},
  };
  curl.is_loaded = load(names, 2, symbols, sizeof symbols / sizeof symbols[0]);
  return curl.is_loaded;
}

static int has_zlib(void) {
  if (zlib.is_tried) return zlib.is_loaded;
  zlib.is_tried = 1;
  static const char *const names[] = {"libz.so.1"};
  const struct symbol symbols[] = {
      {"deflateInit2_", &zlib.init}, {"deflate", &zlib.deflate}, {"deflateEnd", &zlib.end}};
  zlib.is_loaded = load(names, 1, symbols, sizeof symbols / sizeof symbols[0]);
  return zlib.is_loaded;
}

size_t ccurl_compress(const void *bytes, size_t count, void *result, size_t capacity) {
  if (!has_zlib()) return 0;
  struct zlib_stream stream;
  memset(&stream, 0, sizeof stream);
  // Deflate (8), level 6, 16 + 15 bits: gzip with the largest window, default memory (8) and strategy (0).
  if (zlib.init(&stream, 6, 8, 31, 8, 0, "1", (int)sizeof stream) != 0) return 0;
  stream.next_in = bytes;
  stream.avail_in = (unsigned int)count;
  stream.next_out = result;
  stream.avail_out = (unsigned int)capacity;
  int code = zlib.deflate(&stream, 4);
  size_t total = stream.total_out;
  zlib.end(&stream);
  // 1: the end of the stream was written.
  return code == 1 ? total : 0;
}

static size_t receive(const char *bytes, size_t size, size_t count, void *context) {
  struct ccurl_answer *answer = context;
  size_t all = size * count, left = answer->capacity - answer->count;
  size_t kept = all < left ? all : left;
  memcpy(answer->text + answer->count, bytes, kept);
  answer->count += kept;
  if (kept < all) answer->is_cut = 1;
  return all;
}

static void fail(struct ccurl_answer *answer, const char *reason) {
  size_t count = strlen(reason);
  answer->status = 0;
  answer->is_cut = 0;
  answer->count = count < answer->capacity ? count : answer->capacity;
  memcpy(answer->text, reason, answer->count);
}

struct ccurl {
  curl_handle handle;
};

struct ccurl *ccurl_open(void) {
  if (!ccurl_is_available()) return NULL;
  struct ccurl *server = calloc(1, sizeof *server);
  if (server) server->handle = curl.init();
  if (server && server->handle) return server;
  free(server);
  return NULL;
}

void ccurl_close(struct ccurl *server) {
  curl.cleanup(server->handle);
  free(server);
}

// The headers of a request; NULL without memory.
static struct curl_list *headers_of(const struct ccurl_request *request) {
  // Without the second one, a body above 1 MiB waits a second for an answer that many servers do not give.
  const char *lines[] = {"Content-Type: application/json", "Expect:", request->authorization,
                         request->is_compressed ? "Content-Encoding: gzip" : NULL};
  struct curl_list *headers = NULL;
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    if (!lines[i]) continue;
    struct curl_list *more = curl.append(headers, lines[i]);
    if (!more) {
      curl.release(headers);
      return NULL;
    }
    headers = more;
  }
  return headers;
}

void ccurl_post(struct ccurl *server, const struct ccurl_request *request, struct ccurl_answer *answer) {
  answer->status = 0;
  answer->count = 0;
  answer->is_cut = 0;
  curl_handle handle = server->handle;
  struct curl_list *headers = headers_of(request);
  if (!headers) return fail(answer, "not enough memory");
  char text[256] = "";
  // The settings of the last request are forgotten, its connection is not.
  curl.reset(handle);
  curl.set(handle, OPTION_URL, request->url);
  curl.set(handle, OPTION_PROTOCOLS, (long)HTTP_AND_HTTPS);
  curl.set(handle, OPTION_HEADERS, headers);
  curl.set(handle, OPTION_POST_SIZE, (long)request->count);
  curl.set(handle, OPTION_POST_FIELDS, request->body);
  curl.set(handle, OPTION_WRITE_FUNCTION, receive);
  curl.set(handle, OPTION_WRITE_DATA, answer);
  curl.set(handle, OPTION_ERROR_TEXT, text);
  curl.set(handle, OPTION_NO_SIGNAL, 1L);
  curl.set(handle, OPTION_TIMEOUT_MS, (long)request->timeout_ms);
  curl.set(handle, OPTION_TLS_VERSION, (long)TLS_1_2);
  curl.set(handle, OPTION_USER_AGENT, "torpor-uplink");
  if (request->authority) {
    curl.set(handle, OPTION_AUTHORITY, request->authority);
    // Otherwise the authorities in the system's folder are accepted as well.
    curl.set(handle, OPTION_AUTHORITY_FOLDER, (const char *)NULL);
  }
  if (request->certificate) curl.set(handle, OPTION_CERTIFICATE, request->certificate);
  if (request->key) curl.set(handle, OPTION_KEY, request->key);
  int code = curl.perform(handle);
  long status = 0;
  if (code == 0) curl.info(handle, INFO_STATUS, &status);
  answer->status = (int)status;
  if (code != 0) fail(answer, text[0] ? text : curl.text(code));
  // It refers to memory of the caller and to the headers.
  curl.reset(handle);
  curl.release(headers);
}
