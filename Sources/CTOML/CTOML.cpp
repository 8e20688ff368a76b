// Errors come as values.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0

#include "CTOML.h"

namespace {
/// toml++ met something it holds to be impossible. `[[[` is enough for version 3.3.
struct ParserSurprise {};
}  // namespace

// Its assertions abort in a debug build and are assumed to hold in a release build. Here they are
// exceptions in both, caught below.
#undef NDEBUG
#define TOML_ASSERT(expression) \
  do {                          \
    if (!(expression)) throw ParserSurprise();  \
  } while (false)

// toml++ parses and frees nested values by recursion: what bounds the stack is set here, and by
// Inspection for names joined by dots, which toml++ does not count.
#define TOML_MAX_NESTED_VALUES CTOML_MOST_NESTED
#include <toml++/toml.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

struct ctoml_document {
  toml::table root;
  std::vector<ctoml_entry> entries;
  bool failed = false;
  std::string message;
  ctoml_place place{0, 0};
};

namespace {

ctoml_place place_of(const toml::source_position &position) {
  return {static_cast<uint32_t>(position.line), static_cast<uint32_t>(position.column)};
}

ctoml_text text_of(std::string_view text) { return {text.data(), text.size()}; }

/// Looks a text over before toml++ sees it, for what toml++ does not take well: bytes that are no
/// UTF-8, letters beyond ASCII outside of strings and comments (TOML has none there, toml++ 3.3 runs
/// into undefined behaviour) and keys of so many names that their nesting would exhaust the stack.
///
/// Follows strings and comments as TOML does, so that up to the first error both see the same keys.
class Inspection {
 public:
  explicit Inspection(std::string_view text) : text(text) {}

  /// What is wrong; nullptr when nothing is.
  const char *problem() {
    if (text.substr(0, 3) == "\xEF\xBB\xBF") at = 3;
    while (at < text.size()) {
      const char c = text[at];
      const char *found = c == '#'                ? skip_comment()
                          : c == '"' || c == '\'' ? skip_string(c)
                                                  : take_plain();
      if (found != nullptr) return found;
    }
    return nullptr;
  }

  ctoml_place place() const { return {line, column}; }

 private:
  std::string_view text;
  size_t at = 0;
  uint32_t line = 1, column = 1;
  int dots = 0;

  static constexpr const char *not_utf8 = "this is not UTF-8";

  bool next_is(std::string_view what) const { return text.substr(at, what.size()) == what; }

  /// Steps over one character; false when it is none.
  bool step() {
    const size_t length = character_length();
    if (length == 0) return false;
    if (text[at] == '\n') {
      line += 1;
      column = 0;
    }
    column += 1;
    at += length;
    return true;
  }

  /// Bytes of the UTF-8 character at `at`; 0 when it is malformed, overlong or a surrogate.
  size_t character_length() const {
    const auto byte = [&](size_t i) {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
    };
    const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
      if (!follows(1) || !follows(2)) return 0;
      if (first == 0xE0 && byte(1) < 0xA0) return 0;
      return first == 0xED && byte(1) > 0x9F ? 0 : 3;
    }
    if (first < 0xF0 || first > 0xF4 || !follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    return first == 0xF4 && byte(1) > 0x8F ? 0 : 4;
  }

  const char *take_plain() {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      if (character_length() == 0) return not_utf8;
      return "this letter may stand only in quotes or in a comment";
    }
    if (c == '.') {
      dots += 1;
      if (dots > CTOML_MOST_DOTS) return "more than 32 names joined by dots";
    } else if (std::string_view("\n,={}[]").find(c) != std::string_view::npos) {
      dots = 0;
    }
    step();
    return nullptr;
  }

  const char *skip_comment() {
    while (at < text.size() && text[at] != '\n') {
      if (!step()) return not_utf8;
    }
    return nullptr;
  }

  const char *skip_string(char quote) {
    const std::string_view fence = quote == '"' ? "\"\"\"" : "'''";
    const bool has_many_lines = next_is(fence);
    for (int i = has_many_lines ? 3 : 1; i > 0; i--) step();
    while (at < text.size()) {
      if (has_many_lines ? next_is(fence) : text[at] == quote) {
        // Up to two quotes may stand right before the closing fence.
        for (int i = has_many_lines ? 5 : 1; i > 0 && at < text.size() && text[at] == quote; i--) step();
        return nullptr;
      }
      if (!has_many_lines && text[at] == '\n') return nullptr;
      const bool escapes = text[at] == '\\' && quote == '"';
      if (!step()) return not_utf8;
      if (escapes && at < text.size() && !step()) return not_utf8;
    }
    return nullptr;
  }
};

/// Lays a tree out as a list; depth is bounded by the limits above.
class Listing {
 public:
  explicit Listing(std::vector<ctoml_entry> &entries) : entries(entries) {}

  void add_table(const toml::table &table, int32_t parent) {
    struct Member {
      const toml::key *key;
      const toml::node *value;
    };
    std::vector<Member> members;
    members.reserve(table.size());
    for (auto &&[key, value] : table) members.push_back({&key, &value});
    // toml++ sorts by name; a reader of messages goes from top to bottom.
    std::sort(members.begin(), members.end(), [](const Member &a, const Member &b) {
      const auto p = a.key->source().begin, q = b.key->source().begin;
      return p.line != q.line ? p.line < q.line : p.column < q.column;
    });
    for (const Member &member : members) {
      ctoml_entry entry = {};
      entry.key = text_of(member.key->str());
      entry.key_place = place_of(member.key->source().begin);
      add(entry, *member.value, parent);
    }
  }

 private:
  std::vector<ctoml_entry> &entries;

  void add(ctoml_entry entry, const toml::node &node, int32_t parent) {
    entry.parent = parent;
    entry.value_place = place_of(node.source().begin);
    if (entry.key_place.line == 0) entry.key_place = entry.value_place;
    set_value(entry, node);
    const int32_t index = static_cast<int32_t>(entries.size());
    entries.push_back(entry);
    if (const auto *table = node.as_table()) {
      add_table(*table, index);
    } else if (const auto *array = node.as_array()) {
      for (const toml::node &element : *array) add(ctoml_entry{}, element, index);
    }
  }

  static void set_value(ctoml_entry &entry, const toml::node &node) {
    switch (node.type()) {
      case toml::node_type::table: entry.kind = CTOML_TABLE; break;
      case toml::node_type::array: entry.kind = CTOML_ARRAY; break;
      case toml::node_type::string:
        entry.kind = CTOML_STRING;
        entry.text = text_of(node.as_string()->get());
        break;
      case toml::node_type::integer:
        entry.kind = CTOML_INTEGER;
        entry.integer = node.as_integer()->get();
        break;
      case toml::node_type::floating_point:
        entry.kind = CTOML_FLOAT;
        entry.number = node.as_floating_point()->get();
        break;
      case toml::node_type::boolean:
        entry.kind = CTOML_BOOLEAN;
        entry.integer = node.as_boolean()->get() ? 1 : 0;
        break;
      default: entry.kind = CTOML_DATETIME; break;
    }
  }
};

void fail(ctoml_document &document, std::string_view message, ctoml_place place) {
  document.failed = true;
  document.message = message;
  document.place = place;
}

/// Whether toml++ gives up on `text` instead of naming an error.
bool surprises(std::string_view text) {
  try {
    (void)toml::parse(text);
    return false;
  } catch (const ParserSurprise &) {
    return true;
  }
}

/// The first line at which toml++ gives up; it reads from top to bottom, so this can be halved.
uint32_t surprising_line(std::string_view text) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\n') ends.push_back(i + 1);
  }
  ends.push_back(text.size());
  size_t low = 0, high = ends.size() - 1;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (surprises(text.substr(0, ends[middle]))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return static_cast<uint32_t>(low) + 1;
}

void parse_into(ctoml_document &document, std::string_view text) {
  if (text.size() > CTOML_LONGEST_TEXT) {
    fail(document, "the text is longer than 64 KiB", {1, 1});
    return;
  }
  Inspection inspection(text);
  if (const char *problem = inspection.problem()) {
    fail(document, problem, inspection.place());
    return;
  }
  if (surprises(text)) {
    fail(document, "this line is no TOML", {surprising_line(text), 1});
    return;
  }
  toml::parse_result result = toml::parse(text);
  if (!result) {
    const toml::parse_error &error = result.error();
    fail(document, error.description(), place_of(error.source().begin));
    return;
  }
  document.root = std::move(result).table();
  Listing(document.entries).add_table(document.root, -1);
}

}  // namespace

extern "C" {

struct ctoml_document *ctoml_parse(const char *bytes, size_t length) {
  ctoml_document *document = new (std::nothrow) ctoml_document;
  if (document == nullptr) return nullptr;
  try {
    parse_into(*document, bytes == nullptr ? std::string_view() : std::string_view(bytes, length));
    return document;
  } catch (...) {
    delete document;
    return nullptr;
  }
}

void ctoml_free(struct ctoml_document *document) { delete document; }

bool ctoml_failed(const struct ctoml_document *document) { return document->failed; }

struct ctoml_text ctoml_error_message(const struct ctoml_document *document) {
  return text_of(document->message);
}

struct ctoml_place ctoml_error_place(const struct ctoml_document *document) {
  return document->place;
}

size_t ctoml_count(const struct ctoml_document *document) { return document->entries.size(); }

struct ctoml_entry ctoml_entry_at(const struct ctoml_document *document, size_t index) {
  return index < document->entries.size() ? document->entries[index] : ctoml_entry{};
}

}  // extern "C"
