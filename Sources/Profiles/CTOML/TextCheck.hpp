#ifndef TORPOR_CTOML_INSPECTION_HPP
#define TORPOR_CTOML_INSPECTION_HPP

#include "CTOML.h"

#include <string>
#include <string_view>

namespace {

/// Checks a text before toml++ parses it, for input that toml++ handles badly: invalid UTF-8, non-ASCII
/// letters outside strings and comments (TOML allows none there), and dotted keys so long that their
/// nesting would exhaust the stack.
///
/// Recognises strings and comments as TOML does, so that both agree on the keys up to the first error.
class TextCheck {
 public:
  explicit TextCheck(std::string_view text) : text(text) {
    if (next_is("\xEF\xBB\xBF")) at = 3;
  }

  /// Description of the first problem; nullptr if the text has none.
  const char *problem() { return scan({UINT32_MAX, UINT32_MAX}); }

  ctoml_position position() const { return {line, column}; }

  /// Start of the last header or key-value pair before `end`. toml++ reports some errors of a statement
  /// after it, sometimes on a later line.
  ctoml_position statement_before(ctoml_position end) {
    (void)scan(end);
    return start.line == 0 ? end : start;
  }

 private:
  std::string_view text;
  size_t at = 0;
  uint32_t line = 1, column = 1;
  int dots = 0;
  /// Start of the last statement: a header or a key-value pair, also in an inline table.
  ctoml_position start{0, 0};
  /// Stack of the brackets that are open.
  std::string open;
  /// Whether the next token starts a statement.
  bool begins = true;

  static constexpr const char *not_utf8 = "this is not UTF-8";

  const char *scan(ctoml_position end) {
    while (at < text.size() && (line != end.line ? line < end.line : column < end.column)) {
      const char c = text[at];
      note(c);
      const char *found = c == '#'                ? skip_comment()
                          : c == '"' || c == '\'' ? skip_string(c)
                                                  : consume_plain();
      if (found != nullptr) return found;
    }
    return nullptr;
  }

  /// Updates `start`, `open` and `begins`. Called with the first character of each token.
  void note(char c) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '#') return;
    if (c == '\n') {
      if (open.empty()) begins = true;
      return;
    }
    if (begins && c != '}') start = {line, column};
    begins = false;
    if (c == '[' || c == '{') {
      open += c;
      begins = c == '{';
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    } else if (c == ',' && !open.empty()) {
      begins = open.back() == '{';
    }
  }

  bool next_is(std::string_view what) const { return text.substr(at, what.size()) == what; }

  /// Advances by one character; false if the bytes are not valid UTF-8.
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

  /// Length in bytes of the UTF-8 character at `at`; 0 if it is malformed, overlong or a surrogate.
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

  const char *consume_plain() {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      if (character_length() == 0) return not_utf8;
      return "this letter is allowed only in quotes or in a comment";
    }
    if (c == '.') {
      dots += 1;
      if (dots > CTOML_MAX_DOTTED_NAMES) return "more than 32 names joined by dots";
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
        // TOML allows up to two quotes directly before the closing delimiter.
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

}  // namespace

#endif
