#include "CCurl.h"

#include <dlfcn.h>
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
  int (*set)(curl_handle, int, ...);
  int (*perform)(curl_handle);
  int (*info)(curl_handle, int, ...);
  void (*cleanup)(curl_handle);
  struct curl_list *(*append)(struct curl_list *, const char *);
  void (*release)(struct curl_list *);
  const char *(*text)(int);
  int (*deflate_init)(struct zlib_stream *, int, int, int, int, int, const char *, int);
  int (*deflate)(struct zlib_stream *, int);
  int (*deflate_end)(struct zlib_stream *);
} library;

static void *first_of(const char *const names[], size_t count) {
  for (size_t i = 0; i < count; i++) {
    void *found = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (found) return found;
  }
  return NULL;
}

int ccurl_is_available(void) {
  if (library.is_tried) return library.is_loaded;
  library.is_tried = 1;
  static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  void *curl = first_of(names, 2);
  void *zlib = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!curl || !zlib) return 0;
  struct {
    void *from;
    const char *name;
    void *to;
  } symbols[] = {
      {curl, "curl_easy_init", &library.init},         {curl, "curl_easy_setopt", &library.set},
      {curl, "curl_easy_perform", &library.perform},   {curl, "curl_easy_getinfo", &library.info},
      {curl, "curl_easy_cleanup", &library.cleanup},   {curl, "curl_slist_append", &library.append},
      {curl, "curl_slist_free_all", &library.release}, {curl, "curl_easy_strerror", &library.text},
      {zlib, "deflateInit2_", &library.deflate_init},  {zlib, "deflate", &library.deflate},
      {zlib, "deflateEnd", &library.deflate_end},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *found = dlsym(symbols[i].from, symbols[i].name);
    if (!found) return 0;
    memcpy(symbols[i].to, &found, sizeof found);
  }
  library.is_loaded = 1;
  return 1;
}

size_t ccurl_compress(const void *bytes, size_t count, void *result, size_t capacity) {
  if (!ccurl_is_available()) return 0;
  struct zlib_stream stream;
  memset(&stream, 0, sizeof stream);
  // Deflate (8), level 6, 16 + 15 bits: gzip with the largest window, default memory (8) and strategy (0).
  if (library.deflate_init(&stream, 6, 8, 31, 8, 0, "1", (int)sizeof stream) != 0) return 0;
  stream.next_in = bytes;
  stream.avail_in = (unsigned int)count;
  stream.next_out = result;
  stream.avail_out = (unsigned int)capacity;
  int code = library.deflate(&stream, 4);
  size_t total = stream.total_out;
  library.deflate_end(&stream);
  // 1: the end of the stream was written.
  return code == 1 ? total : 0;
}

static size_t receive(const char *bytes, size_t size, size_t count, void *context) {
  struct ccurl_answer *answer = context;
  size_t all = size * count, left = answer->capacity - answer->count;
  size_t kept = all < left ? all : left;
  memcpy(answer->text + answer->count, bytes, kept);
  answer->count += kept;
  return all;
}

static void fail(struct ccurl_answer *answer, const char *reason) {
  size_t count = strlen(reason);
  answer->status = 0;
  answer->count = count < answer->capacity ? count : answer->capacity;
  memcpy(answer->text, reason, answer->count);
}

void ccurl_post(const struct ccurl_request *request, struct ccurl_answer *answer) {
  answer->status = 0;
  answer->count = 0;
  if (!ccurl_is_available()) return fail(answer, "libcurl cannot be loaded; install the package libcurl4");
  curl_handle handle = library.init();
  struct curl_list *headers = library.append(NULL, "Content-Type: application/json");
  struct curl_list *more = headers ? library.append(headers, "Content-Encoding: gzip") : NULL;
  // Without it, a body above 1 MiB waits a second for an answer that many servers do not give.
  if (more) more = library.append(headers, "Expect:");
  if (more && request->authorization) more = library.append(headers, request->authorization);
  if (!handle || !more) {
    fail(answer, "not enough memory");
  } else {
    char text[256] = "";
    library.set(handle, OPTION_URL, request->url);
    library.set(handle, OPTION_PROTOCOLS, (long)HTTP_AND_HTTPS);
    library.set(handle, OPTION_HEADERS, headers);
    library.set(handle, OPTION_POST_SIZE, (long)request->count);
    library.set(handle, OPTION_POST_FIELDS, request->body);
    library.set(handle, OPTION_WRITE_FUNCTION, receive);
    library.set(handle, OPTION_WRITE_DATA, answer);
    library.set(handle, OPTION_ERROR_TEXT, text);
    library.set(handle, OPTION_NO_SIGNAL, 1L);
    library.set(handle, OPTION_TIMEOUT_MS, (long)request->timeout_ms);
    library.set(handle, OPTION_TLS_VERSION, (long)TLS_1_2);
    library.set(handle, OPTION_USER_AGENT, "torpor-uplink");
    if (request->authority) library.set(handle, OPTION_AUTHORITY, request->authority);
    if (request->certificate) library.set(handle, OPTION_CERTIFICATE, request->certificate);
    if (request->key) library.set(handle, OPTION_KEY, request->key);
    int code = library.perform(handle);
    long status = 0;
    if (code == 0) library.info(handle, INFO_STATUS, &status);
    answer->status = (int)status;
    if (code != 0) fail(answer, text[0] ? text : library.text(code));
  }
  if (headers) library.release(headers);
  if (handle) library.cleanup(handle);
}
