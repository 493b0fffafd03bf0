# SPDX-License-Identifier: Apache-2.0
"""Source text of a Python file and its syntax tree: where a function stands, and the place of every syntax node in the
file.
"""

from __future__ import annotations

import ast
import linecache
from types import FunctionType

from polyloom.buffers import unsaved_text
from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.recursion import nesting_error, with_deep_stack


class Text:
    """Source text of a file; nodes of its syntax tree have lines from 1 and columns that count UTF-8 bytes from 0."""

    def __init__(self, name: str, text: str) -> None:
        self.source = Source(name, text)
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """The character offset of a place; a place behind the end is the end."""
        if line > len(self.lines):
            return len(self.source.text)
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode(errors="ignore"))

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> Span:
        """The place of a node. A statement with a body is marked on its first line only."""
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return Span(self.source, self.offset(node.lineno, node.col_offset), end)

    def line(self, number: int) -> Span:
        """A whole line without its indentation."""
        line = self.lines[number - 1] if 0 < number <= len(self.lines) else ""
        start = self.offset(number, 0) + len(line) - len(line.lstrip())
        return Span(self.source, start, max(start + 1, self.offset(number, 0) + len(line.rstrip())))

    def error(
        self, code: str, message: str, node: ast.expr | ast.stmt | ast.arg, help: str | None = None
    ) -> PolyloomError:
        """The input is wrong at `node`."""
        return input_error(code, message, span=self.span(node), help=help)


def parse_file(name: str, text: str) -> ast.Module:
    """The syntax tree of a file; raises PL0131 at the place of a syntax error."""
    try:
        return with_deep_stack(ast.parse)(text, name)
    except (SyntaxError, ValueError) as error:
        raise syntax_error(Text(name, text), error) from None
    except (RecursionError, MemoryError):  # the parser's own stack
        raise nesting_error(name) from None


def syntax_error(text: Text, error: Exception) -> PolyloomError:
    """Python's own syntax error as a diagnostic."""
    if not isinstance(error, SyntaxError) or error.lineno is None:
        return input_error(
            "PL0131", f"{text.source.name} is not a Python file: {error}", help="give a Python source file in UTF-8"
        )
    start = text.starts[min(error.lineno, len(text.lines)) - 1] + max(0, (error.offset or 1) - 1)
    return input_error(
        "PL0131",
        f"Python cannot read this: {error.msg}",
        span=Span(text.source, start, start + 1),
        help="correct the syntax",
    )


def find_definition(function: FunctionType) -> tuple[Text, ast.FunctionDef]:
    """Definition of a function: the text of its file and its node in it; raises PL0132 when the text cannot be had."""
    code = function.__code__
    # The file may have changed since an earlier kernel was read; notebooks' cells are in this cache alone.
    linecache.checkcache(code.co_filename)
    unsaved = unsaved_text(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename, function.__globals__)) if unsaved is None else unsaved
    for node in ast.walk(parse_file(code.co_filename, text)):
        if (
            isinstance(node, ast.FunctionDef)
            and node.name == function.__name__
            and _definition_line(node) == code.co_firstlineno
        ):
            return Text(code.co_filename, text), node
    raise input_error(
        "PL0132",
        f"the source of `{function.__name__}` cannot be found",
        help="define it by `def` in a file, or in a notebook's cell",
    )


def _definition_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
