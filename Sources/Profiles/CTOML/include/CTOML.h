#ifndef TORPOR_CTOML_H
#define TORPOR_CTOML_H

// TOML 1.0 with source positions: parses a text with toml++ and returns a flat list in text order, each
// value with the line and column of its key and of itself.
//
// Never throws and never aborts, for any input. Columns count characters; lines and columns start at 1.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Maximum length of a text, in bytes.
#define CTOML_MAX_TEXT_LENGTH 65536
/// Maximum number of names joined by dots in one key or header.
#define CTOML_MAX_DOTTED_NAMES 32
/// Maximum nesting depth of arrays and inline tables.
#define CTOML_MAX_NESTING 16

/// Type of a value.
enum ctoml_kind {
  CTOML_TABLE = 0,
  CTOML_ARRAY = 1,
  CTOML_STRING = 2,
  CTOML_INTEGER = 3,
  CTOML_FLOAT = 4,
  CTOML_BOOLEAN = 5,
  CTOML_DATETIME = 6,
};

/// UTF-8 text owned by the document, without a terminating NUL.
struct ctoml_text {
  const char *bytes;
  size_t length;
};

/// A position in the text; 0:0 if unknown.
struct ctoml_position {
  uint32_t line;
  uint32_t column;
};

/// One value of the document.
struct ctoml_entry {
  /// Index of the enclosing table or array; -1 in the root table.
  int32_t parent;
  enum ctoml_kind kind;
  /// Key of the value; empty for an element of an array.
  struct ctoml_text key;
  struct ctoml_position key_position;
  struct ctoml_position value_position;
  /// Value of a string.
  struct ctoml_text text;
  /// Value of an integer; 0 or 1 for a boolean.
  int64_t integer;
  /// Value of a float; may be infinite or NaN.
  double number;
};

/// A parsed text, or its error.
struct ctoml_document;

/// Parses `length` bytes. Returns NULL only if allocation failed. Release the result with ctoml_free().
struct ctoml_document *ctoml_parse(const char *bytes, size_t length);
/// Frees a document; accepts NULL.
void ctoml_free(struct ctoml_document *document);

/// Whether parsing failed; the document then has no entries.
bool ctoml_failed(const struct ctoml_document *document);
/// Error message; empty if parsing succeeded.
struct ctoml_text ctoml_error_message(const struct ctoml_document *document);
/// Position of the error.
struct ctoml_position ctoml_error_position(const struct ctoml_document *document);

/// Number of entries. A table or array precedes its elements.
size_t ctoml_count(const struct ctoml_document *document);
/// The entry at `index`; all zero past the end.
struct ctoml_entry ctoml_entry_at(const struct ctoml_document *document, size_t index);

#ifdef __cplusplus
}
#endif

#endif
