"""Finds the changes that can be made to a source file."""

import hashlib
import re
from dataclasses import dataclass

from swift_source import OPENING, SwiftSource

COMPARISONS = {
    "<": ("<=", ">=", ">"), "<=": ("<", ">", ">="), ">": (">=", "<=", "<"), ">=": (">", "<", "<="),
    "==": ("!=",), "!=": ("==",),
}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "&+": "&-", "&-": "&+"}
ASSIGNMENTS = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "&+=": "&-=", "&-=": "&+="}
LOGIC = {"&&": "||", "||": "&&"}
# Words that begin a line that is not a call or an assignment.
NOT_STATEMENTS = {
    "let", "var", "func", "return", "throw", "if", "guard", "switch", "case", "default", "for", "while", "repeat", "do",
    "defer", "break", "continue", "fallthrough", "import", "struct", "enum", "extension", "protocol", "init", "deinit",
    "subscript", "typealias", "static", "public", "private", "fileprivate", "internal", "package", "mutating", "else",
    "catch", "get", "set", "where", "in", "is", "as", "await", "indirect", "borrowing", "consuming", "inout", "precedencegroup",
    "operator", "infix", "prefix", "postfix", "yield", "discard", "lazy", "weak", "nonisolated", "override", "final", "any",
    "some", "consume", "copy", "true", "false", "nil",
}


@dataclass
class Change:
    """One change of one place. `start` and `end` are offsets of the text that is replaced."""

    kind: str  # comparison, arithmetic, assignment, logic, sign, not, choice, literal, statement
    file: str
    start: int
    end: int
    line: int
    old: str
    new: str
    # The first line and the changed first line, without indentation; whole statements are joined to one line.
    before: str = ""
    after: str = ""
    # The offsets of the whole lines, in which a compiler's error is caused by this change.
    first_line: int = 0
    last_line: int = 0
    rank: str = ""

    def key(self, seed, module):
        return [seed, module, self.file, self.line, self.before, self.after]


def changes(path, text, seed):
    """At most one change for each place, in the order of the places. Their ranks depend on the seed and on the
    line's text, not on its number, so that an edit elsewhere in the file selects no other changes."""
    source = SwiftSource(text)
    found = {}
    occurrences = {}
    for index in range(len(source.tokens)):
        if index in source.excluded:
            continue
        for change in _of_token(source, index, path) + _of_statement(source, index, path):
            _describe(source, change)
            identity = (change.before, change.after)
            occurrences[identity] = occurrences.get(identity, 0) + 1
            change.rank = hashlib.sha256(
                "\n".join((str(seed), path, *identity, str(occurrences[identity]))).encode()).hexdigest()
            place = (change.start, change.kind == "statement")
            if place not in found or change.rank < found[place].rank:
                found[place] = change
    return list(found.values())


def _describe(source, change):
    start, end = source.line_range(change.start)[0], source.line_range(change.end)[1]
    text = source.text[start:change.start] + change.new + source.text[change.end:end]
    change.before = _joined(source.text[start:end])
    change.after = _joined(text)
    change.first_line, change.last_line = source.line(start), source.line(end)


def _joined(text):
    lines = (re.sub(r"\s//.*", "", line).strip() for line in text.split("\n"))
    return " ".join(line for line in lines if line)


def _of_token(source, index, path):
    token = source.tokens[index]
    previous = source.tokens[index - 1].text if index else ""
    following = source.tokens[index + 1].text if index + 1 < len(source.tokens) else ""
    before = source.text[token.start - 1:token.start]
    after = source.text[token.end:token.end + 1]

    def change(kind, new, old=token.text):
        return Change(kind, path, token.end - len(old), token.end, source.line(token.start), old, new)

    if token.kind == "operator" and previous != "func":
        if before.isspace() and after.isspace():
            if token.text in COMPARISONS:
                return [change("comparison", new) for new in COMPARISONS[token.text]]
            for kind, table in (("arithmetic", ARITHMETIC), ("assignment", ASSIGNMENTS), ("logic", LOGIC)):
                if token.text in table:
                    return [change(kind, table[token.text])]
        elif not after.isspace() and (before.isspace() or before in OPENING):
            if token.text in ("-", "!"):
                return [change("sign" if token.text == "-" else "not", "")]
    elif token.kind == "number":
        return [change("literal", new) for new in _other_numbers(token.text)]
    elif token.text in ("true", "false"):
        return [change("literal", "false" if token.text == "true" else "true")]
    elif token.text in ("min", "max") and following == "(" and previous != "func":
        other = "max" if token.text == "min" else "min"
        if source.text.endswith("Swift.", 0, token.start):
            return [change("choice", "Swift." + other, "Swift." + token.text)]
        if before != ".":
            return [change("choice", other)]
    return []


def _other_numbers(text):
    """The number plus one, minus one, and zero, as the literal is written."""
    digits = text.replace("_", "")
    if re.fullmatch("[0-9]+", digits):
        value, write = int(digits), str
    elif digits[:2].lower() in ("0x", "0b", "0o"):
        value = int(digits, 0)
        write = {"x": hex, "b": bin, "o": oct}[digits[1].lower()]
    else:
        value, write = float(digits), repr
    return [write(other) for other in dict.fromkeys((value + 1, value - 1, value * 0)) if other >= 0 and other != value]


def _of_statement(source, index, path):
    """The deletion of the call or assignment that begins with this token."""
    token = source.tokens[index]
    parent = source.parents[index]
    is_name = token.kind == "name" and token.text not in NOT_STATEMENTS
    if not is_name or parent < 0 or source.tokens[parent].text != "{":
        return []
    if not _begins_statement(source, index):
        return []
    end = _statement_end(source, index)
    if end is None:
        return []
    texts = [each.text for each in source.tokens[index:end + 1]]
    depth = {source.parents[index]}
    is_assignment = any(
        text in ("=", *ASSIGNMENTS) and source.parents[index + offset] in depth for offset, text in enumerate(texts))
    is_call = texts[-1] == ")" and len(texts) > 2
    is_initializer = "init" in texts[:3]
    if not (is_assignment or is_call) or is_initializer or "{" in texts:
        return []
    start, stop = token.start, source.tokens[end].end
    return [Change("statement", path, start, stop, source.line(start), source.text[start:stop], "(deleted)")]


def _begins_statement(source, index):
    previous = source.tokens[index - 1]
    if previous.text in ("{", ";", "}", "in"):
        return True
    line_start = source.line_range(source.tokens[index].start)[0]
    if previous.text == ":":
        first = index - 1
        while first and source.parents[first - 1] == source.parents[index] and source.tokens[first].text not in (
                "case", "default") and source.tokens[first].text not in ("{", "}", ";"):
            first -= 1
        return source.tokens[first].text in ("case", "default")
    # A statement can end with a name, a number, a string or a bracket; an operator or a comma continues on the next line.
    return previous.start < line_start and (
        previous.kind in ("name", "number", "string") and previous.text not in NOT_STATEMENTS - {"true", "false", "nil"}
        or previous.text in (")", "]"))


def _statement_end(source, index):
    """The index of the last token of the statement; None if it is not clear."""
    position = index
    while position < len(source.tokens):
        token = source.tokens[position]
        if token.text in OPENING and token.kind == "mark":
            if position not in source.partner:
                return None
            position = source.partner[position]
            token = source.tokens[position]
        if position + 1 >= len(source.tokens):
            return None
        following = source.tokens[position + 1]
        if following.text in ("}", ";"):
            return position
        if "\n" in source.text[token.end:following.start]:
            if following.kind == "operator" and not source.text[following.end].isspace() and following.text in ("-", "!"):
                return None
            is_continued = token.kind == "operator" and token.text != "?" and token.text != "!" or token.text == ","
            if not is_continued and following.kind != "operator" and following.text not in (".", ":", ","):
                return position
        position += 1
    return None
