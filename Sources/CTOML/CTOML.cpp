// Errors come as values; a missing memory block is the one exception left, caught below.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0

#include "CTOML.h"

// toml++ parses and frees nested values by recursion: what bounds the stack is set here, and by
// Bounds for names joined by dots, which toml++ does not count.
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

/// Finds the first key with too many dots. Follows strings and comments as TOML does, so that up to
/// the first error it and the parser see the same keys.
class Bounds {
 public:
  explicit Bounds(std::string_view text) : text(text) {}

  bool too_deep() {
    while (at < text.size()) {
      const char c = text[at];
      if (c == '#') {
        skip_line();
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        take(c);
        if (dots > CTOML_MOST_DOTS) return true;
      }
    }
    return false;
  }

  uint32_t line = 1;

 private:
  std::string_view text;
  size_t at = 0;
  int dots = 0;

  void take(char c) {
    at += 1;
    if (c == '.') {
      dots += 1;
    } else if (c == '\n' || c == ',' || c == '=' || c == '{' || c == '}' || c == '[' || c == ']') {
      dots = 0;
      if (c == '\n') line += 1;
    }
  }

  void skip_line() {
    while (at < text.size() && text[at] != '\n') at += 1;
  }

  void skip_string(char quote) {
    const std::string_view fence = quote == '"' ? "\"\"\"" : "'''";
    const bool many_lines = text.substr(at, 3) == fence;
    at += many_lines ? 3 : 1;
    while (at < text.size()) {
      const char c = text[at];
      if (c == '\\' && quote == '"') {
        if (at + 1 < text.size() && text[at + 1] == '\n') line += 1;
        at = std::min(at + 2, text.size());
      } else if (many_lines && text.substr(at, 3) == fence) {
        at += 3;
        // Up to two quotes may stand right before the closing fence.
        for (int i = 0; i < 2 && at < text.size() && text[at] == quote; i++) at += 1;
        return;
      } else if (!many_lines && (c == quote || c == '\n')) {
        if (c == quote) at += 1;
        return;
      } else {
        if (c == '\n') line += 1;
        at += 1;
      }
    }
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

void parse_into(ctoml_document &document, std::string_view text) {
  if (text.size() > CTOML_LONGEST_TEXT) {
    fail(document, "the text is longer than 64 KiB", {1, 1});
    return;
  }
  Bounds bounds(text);
  if (bounds.too_deep()) {
    fail(document, "more than 32 names joined by dots", {bounds.line, 1});
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
  } catch (const std::exception &) {
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
