# SPDX-License-Identifier: Apache-2.0
"""What is left out when asked, by `--ignore`: statements that call timers or print, what only these compute with, and
loops that only repeat a kernel for timing.

The file's text is read with blanks in their place, by whoever reads it: the loops that are mapped, the code of a
processor and the oracle are of the same text. What the values of calls that are left out flow into is found by a
forward slice (Weiser 1984) over the variables of a function; where more depends on them, the file is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from polyloom.diagnostics import Diagnostic
from polyloom.files import read_source
from polyloom.frontend.c.choose_function import choose_function
from polyloom.frontend.c.clang import syntax_tree
from polyloom.frontend.dependencies import dependencies_with_options
from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.roles import loop_variable
from polyloom.frontend.loops.substatements import child_statements
from polyloom.frontend.loops.tree import CASTS, Node, refusal, source_text, strip_casts
from polyloom.frontend.source import Options


def remove_ignored(path: str, options: Options) -> Options:
    """Options that read the file without what `options.ignore` names. Raises PL0152, PL0157, PL0158."""
    if not options.ignore:
        return options
    text = read_source(path, ".c").decode("utf-8", "surrogateescape")
    for cut in _cuts(path, options):
        start, end = cut.place()
        # Lines stay, so that positions in messages do.
        blanks = re.sub(r"[^\n]", " ", text[start + 1 : end])
        text = f"{text[:start]}{cut.instead}{blanks}{text[end:]}"
    return replace(options, ignore=(), instead=(*options.instead, (path, text)))


def notes(path: str, options: Options) -> tuple[Diagnostic, ...]:
    """One note for each place that is left out."""
    return tuple(Diagnostic("PL0168", cut.message, 0, span=cut.node.span) for cut in _cuts(path, options))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A statement that is left out, or the header of a loop, with what is said of it."""

    node: Node
    message: str
    is_header: bool = False
    is_value: bool = False

    @property
    def instead(self) -> str:
        """First character in its place: a declaration has its semicolon in its span, and what is returned a value."""
        return ";" if self.node.kind == "declare" else "0" if self.is_value else " "

    def place(self) -> tuple[int, int]:
        """The characters that become blanks."""
        if self.is_header:
            return self.node.span.start, self.node.inner[-1].span.start
        end, text = self.node.span.end, self.node.span.source.text
        # Of a macro with arguments the span has the name alone.
        rest = re.match(r"\s*\(", text[end:]) if self.node.macro is not None else None
        return self.node.span.start, _closing_parenthesis(text, end + rest.end()) if rest is not None else end


def _closing_parenthesis(text: str, start: int) -> int:
    depth = 1
    for at, character in enumerate(text[start:], start):
        depth += (character == "(") - (character == ")")
        if not depth:
            return at + 1
    return start


def _cuts(path: str, options: Options) -> list[_Cut]:
    """What is left out of the functions of the file that the chosen one reaches, in the order of the text."""
    plain = replace(options, ignore=())
    unit = syntax_tree(path, plain)
    function, functions = choose_function(path, unit, options.function, dependencies_with_options(path, options))
    found = [
        cut
        for each in _reachable_functions(function, {f.name: f for f in functions.values()})
        if each.span.source.name == function.span.source.name
        for cut in _Slice(each, frozenset(options.ignore)).cuts()
    ]
    return sorted(found, key=lambda cut: cut.node.span.start)


def _reachable_functions(function: Node, functions: dict[str, Node]) -> list[Node]:
    found, work = {function.name: function}, [function]
    while work:
        for name in {callee_name(n) for n in work.pop() if n.kind == "call"} & functions.keys() - found.keys():
            found[name] = functions[name]
            work.append(functions[name])
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Slice:
    """Slice of a function: `names` are those of calls, macros and loop variables to leave out."""

    function: Node
    names: Collection[str]
    flows: set[str] = field(default_factory=set[str])
    """The identities of variables that get their values from what is left out."""

    def cuts(self) -> list[_Cut]:
        before = -1
        while len(self.flows) > before:
            before = len(self.flows)
            self.flows.update(self._assigned_variables())
        found = list(self._statements(self.function.inner[-1]))
        self._check(self.function.inner[-1], {id(cut.node): cut for cut in found})
        return found

    def _is_ignored_call(self, node: Node) -> bool:
        return node.kind == "call" and callee_name(node) in self.names

    def _depends(self, node: Node) -> bool:
        return any(self._is_ignored_call(n) or (n.kind == "name" and n.symbol in self.flows) for n in node)

    def _assigned_variables(self) -> Iterator[str]:
        own = {n.symbol for n in self.function.inner[-1] if n.kind == "variable"}
        for node in self.function.inner[-1]:
            if node.kind == "variable" and node.initial and self._depends(node.inner[-1]):
                yield node.symbol
            elif (node.opcode == "=" or node.kind == "update") and self._depends(node.inner[1]):
                yield from (n.symbol for n in (strip_casts(node.inner[0]),) if n.symbol in own)
            elif self._is_ignored_call(node):
                addresses = (
                    n for argument in node.inner[1:] for n in argument if n.opcode == "&" and len(n.inner) == 1
                )
                yield from (strip_casts(n.inner[0]).symbol for n in addresses if strip_casts(n.inner[0]).symbol in own)

    def _statements(self, node: Node) -> Iterator[_Cut]:
        for statement in child_statements(node):
            message = self._removal_message(statement)
            if message is not None:
                yield _Cut(statement, message)
                continue
            value = statement.inner[0] if statement.kind == "return" and statement.inner else None
            while value is not None and value.kind in CASTS:
                value = value.inner[0]
            if value is not None and self._is_ignored_call(value):
                yield _Cut(value, f"the call of `{callee_name(value)}` is left out, and 0 returned", is_value=True)
            variable = loop_variable(statement) if statement.kind == "for" else None
            if variable is not None and variable.name in self.names:
                yield self._header(statement, variable)
            yield from self._statements(statement)

    def _removal_message(self, statement: Node) -> str | None:
        bare = strip_casts(statement)
        bare = strip_casts(bare.inner[0]) if bare.kind == "cast" and bare.ctype == "void" else bare
        if self._is_ignored_call(bare):
            return f"the call of `{callee_name(bare)}` is left out"
        if statement.macro in self.names:
            return f"`{statement.macro}` is left out"
        if statement.kind == "declare" and all(d.symbol in self.flows for d in statement.inner):
            return f"`{statement.inner[0].name}` is left out, which only what is left out computes with"
        if bare.opcode == "=" or bare.kind == "update":
            left = strip_casts(bare.inner[0])
            return f"the value of `{left.name}` is left out" if left.symbol in self.flows else None
        return None

    def _header(self, loop: Node, variable: Node) -> _Cut:
        uses = [n for n in loop.inner[-1] if n.kind == "name" and n.symbol == variable.symbol]
        if uses:
            message = f"the loop over `{variable.name}` does more than to repeat: its body uses `{variable.name}`"
            raise refusal("PL0158", message, uses[0], "leave out only loops that repeat a kernel for timing")
        return _Cut(loop, f"the loop over `{variable.name}` is left out, and its body runs once", is_header=True)

    def _check(self, node: Node, cuts: dict[int, _Cut]) -> None:
        cut = cuts.get(id(node))
        if cut is not None and not cut.is_header:
            return
        if self._is_ignored_call(node) or (node.kind == "name" and node.symbol in self.flows):
            message = f"`{source_text(node)}` is left out, and this needs its value"
            raise refusal("PL0157", message, node, "give --ignore also what computes with it, or leave it in")
        for child in node.inner[-1:] if cut is not None else node.inner:
            self._check(child, cuts)
