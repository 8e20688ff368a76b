#ifndef TORPOR_CTOML_H
#define TORPOR_CTOML_H

// TOML 1.0 with places: parses a text with toml++ and hands it out as a flat list in the order of the
// text, each value with the line and column of its key and of itself.
//
// Never throws, never aborts on any input. Columns count characters, lines and columns start at 1.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Longest text that is read, in bytes.
#define CTOML_LONGEST_TEXT 65536
/// Most names joined by dots in one key or header.
#define CTOML_MOST_DOTS 32
/// Most arrays and inline tables inside each other.
#define CTOML_MOST_NESTED 16

/// What a value is.
enum ctoml_kind {
  CTOML_TABLE = 0,
  CTOML_ARRAY = 1,
  CTOML_STRING = 2,
  CTOML_INTEGER = 3,
  CTOML_FLOAT = 4,
  CTOML_BOOLEAN = 5,
  CTOML_DATETIME = 6,
};

/// Bytes of UTF-8, owned by the document, without a terminating zero.
struct ctoml_text {
  const char *bytes;
  size_t length;
};

/// A place in the text; 0:0 where there is none.
struct ctoml_place {
  uint32_t line;
  uint32_t column;
};

/// One value of the document.
struct ctoml_entry {
  /// Index of the table or array that holds it; -1 in the root table.
  int32_t parent;
  enum ctoml_kind kind;
  /// Its key; empty for an element of an array.
  struct ctoml_text key;
  struct ctoml_place key_place;
  struct ctoml_place value_place;
  /// Of a string.
  struct ctoml_text text;
  /// Of an integer; of a boolean 0 or 1.
  int64_t integer;
  /// Of a float; may be infinite or no number.
  double number;
};

/// A parsed text or its error.
struct ctoml_document;

/// Parses `length` bytes. NULL only when memory ran out. To be given back with ctoml_free().
struct ctoml_document *ctoml_parse(const char *bytes, size_t length);
/// Gives a document back; does nothing with NULL.
void ctoml_free(struct ctoml_document *document);

/// Whether the text is no TOML; then there are no entries.
bool ctoml_failed(const struct ctoml_document *document);
/// What is wrong with it; empty when nothing is.
struct ctoml_text ctoml_error_message(const struct ctoml_document *document);
/// Where.
struct ctoml_place ctoml_error_place(const struct ctoml_document *document);

/// How many entries there are. A parent comes before what it holds.
size_t ctoml_count(const struct ctoml_document *document);
/// The entry at `index`; all zero past the end.
struct ctoml_entry ctoml_entry_at(const struct ctoml_document *document, size_t index);

#ifdef __cplusplus
}
#endif

#endif
