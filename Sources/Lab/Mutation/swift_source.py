"""Divides a Swift source file into tokens, as far as the search for changes needs it."""

import bisect
import re
from typing import NamedTuple

IDENTIFIER = re.compile(r"`?[A-Za-z_$][A-Za-z0-9_]*`?")
NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9_]+)?")
OPERATOR = re.compile(r"[-/=+!*%<>&|^~?]+|\.\.[.<]")
DIRECTIVE = re.compile(r"#(if|elseif|else|endif)\b")

OPENING = "([{"
CLOSING = ")]}"
# Functions whose arguments state what must hold anyway.
CHECKS = {"precondition", "assert", "preconditionFailure", "assertionFailure", "fatalError"}


class Token(NamedTuple):
    kind: str  # name, number, operator, string, mark, attribute
    text: str
    start: int

    @property
    def end(self):
        return self.start + len(self.text)


class SwiftSource:
    """The tokens of a file without comments, attributes and the blocks of `#if`; and their nesting."""

    def __init__(self, text):
        self.text = text
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.tokens = []
        self._scan()
        # For each token, the index of the innermost opening bracket that contains it, or -1.
        self.parents = []
        # The index of the bracket that belongs to a bracket.
        self.partner = {}
        stack = []
        for index, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in CLOSING and stack:
                opening = stack.pop()
                self.partner[opening] = index
                self.partner[index] = opening
            self.parents.append(stack[-1] if stack else -1)
            if token.kind == "mark" and token.text in OPENING:
                stack.append(index)
        self.excluded = self._excluded()

    def line(self, offset):
        """The number of the line, from 1 on."""
        return bisect.bisect_right(self.line_starts, offset)

    def line_range(self, offset):
        """The start and end of the line, without the line feed."""
        end = self.text.find("\n", offset)
        return self.line_starts[self.line(offset) - 1], len(self.text) if end < 0 else end

    def _scan(self):
        text, position, conditions = self.text, 0, 0
        while position < len(text):
            character = text[position]
            directive = DIRECTIVE.match(text, position)
            if directive:
                conditions += {"if": 1, "endif": -1}.get(directive[1], 0)
                position = text.find("\n", position) % (len(text) + 1)
            elif text.startswith("//", position):
                position = text.find("\n", position) % (len(text) + 1)
            elif text.startswith("/*", position):
                position = self._comment_end(position)
            elif character == '"' or character == "#" and re.match('#+"', text[position:position + 4]):
                position = self._add("string", position, self._string_end(position), conditions)
            elif character == "@":
                position = self._add("attribute", position, self._attribute_end(position), conditions)
            elif match := IDENTIFIER.match(text, position):
                position = self._add("name", position, match.end(), conditions)
            elif character.isdigit():
                position = self._add("number", position, NUMBER.match(text, position).end(), conditions)
            elif match := OPERATOR.match(text, position):
                position = self._add("operator", position, match.end(), conditions)
            elif character.isspace():
                position += 1
            else:
                position = self._add("mark", position, position + 1, conditions)

    def _add(self, kind, start, end, conditions):
        if not conditions:
            self.tokens.append(Token(kind, self.text[start:end], start))
        return end

    def _comment_end(self, position):
        depth = 0
        for match in re.compile(r"/\*|\*/").finditer(self.text, position):
            depth += 1 if match[0] == "/*" else -1
            if depth == 0:
                return match.end()
        return len(self.text)

    def _string_end(self, position):
        opening = re.compile('(#*)("""|")').match(self.text, position)
        close = opening[2] + opening[1]
        escape = "\\" + opening[1]
        position = opening.end()
        while position < len(self.text):
            if self.text.startswith(close, position):
                return position + len(close)
            if self.text.startswith(escape + "(", position):
                position = self._parenthesis_end(position + len(escape))
            elif self.text.startswith(escape, position):
                position += len(escape) + 1
            else:
                position += 1
        return position

    def _parenthesis_end(self, position):
        depth = 0
        while position < len(self.text):
            character = self.text[position]
            if character == '"':
                position = self._string_end(position)
                continue
            depth += {"(": 1, ")": -1}.get(character, 0)
            position += 1
            if depth == 0:
                break
        return position

    def _attribute_end(self, position):
        end = IDENTIFIER.match(self.text, position + 1).end()
        return self._parenthesis_end(end) if self.text.startswith("(", end) else end

    def _excluded(self):
        """Indices of tokens that are not changed: checks, imports, tables of data, raw values, generic arguments."""
        excluded = set()
        tokens = self.tokens
        for index, token in enumerate(tokens):
            following = tokens[index + 1].text if index + 1 < len(tokens) else ""
            if token.kind == "name" and token.text in CHECKS and following == "(":
                excluded.update(range(index, self.partner.get(index + 1, index) + 1))
            elif token.text == "import":
                excluded.update((index, index + 1))
            elif token.text == "let":
                excluded.update(self._table(index))
            elif token.text == "case" and self._is_raw_value(index):
                excluded.update(range(index, index + 5))
            elif token.kind == "number" and index and (
                    tokens[index - 1].text.endswith((".", "<")) or following == "of"):
                if not tokens[index - 1].text == "..<" and not self._has_space_after(index - 1):
                    excluded.add(index)
        return excluded

    def _has_space_after(self, index):
        return self.text[self.tokens[index].end].isspace()

    def _is_raw_value(self, index):
        """Whether this is `case name = value`, not a pattern."""
        texts = [token.text for token in self.tokens[index + 1:index + 4]]
        return len(texts) == 3 and texts[1] == "=" and texts[0].isidentifier()

    def _table(self, index):
        """The indices of an array literal of several lines that initializes the constant declared at `index`."""
        parent = self.parents[index]
        for position in range(index + 1, min(index + 40, len(self.tokens) - 1)):
            if self.parents[position] != parent:
                continue
            if self.tokens[position].text == "=":
                opening = position + 1
                end = self.partner.get(opening)
                if self.tokens[opening].text == "[" and end is not None and "\n" in self.text[
                        self.tokens[opening].start:self.tokens[end].start]:
                    return range(opening, end + 1)
                return ()
        return ()
