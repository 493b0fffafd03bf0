# SPDX-License-Identifier: Apache-2.0
"""Import of LLVM IR: a C function in SSA form (`ir.ssa`), from clang's output at -O0 to -O2.

llvmlite checks the module; its printed text is read by `llvm_text`, `llvm_data` and `llvm_lower` (LLVM Language
Reference Manual). Phi functions become block arguments. The unit that is compiled includes the file and takes the
function's address, which keeps a `static` one.

C++ is read so too, where the function is named. What is called outside of the file is refused, or found in a table of
external functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import count
from typing import Any, Final

from polyloom import extras
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, Source, Span, input_error
from polyloom.files import read_source
from polyloom.frontend.c.choose_function import choose_function
from polyloom.frontend.c.clang import CPP, INLINED, C, include_directive, llvm_module, syntax_tree
from polyloom.frontend.c.inline_growth import may_inline
from polyloom.frontend.c.library import called_kernels, with_kernels
from polyloom.frontend.c.llvm_data import read_variable, ssa_name
from polyloom.frontend.c.llvm_flow import read_phi, read_terminator
from polyloom.frontend.c.llvm_lower import ASSERTION, Lowering, skip_to_type
from polyloom.frontend.c.llvm_places import Places
from polyloom.frontend.c.llvm_text import Model, Unsupported, Words
from polyloom.frontend.c.preconditions import find_preconditions
from polyloom.frontend.c.reference import ENTRY
from polyloom.frontend.source import Options
from polyloom.ir.ssa import (
    NARROW,
    NOWHERE,
    RESULT,
    Block,
    Data,
    Edge,
    Function,
    Operand,
    Place,
    Terminator,
    Unreachable,
    Value,
    mentioned_addresses,
    replace_edges,
)
from polyloom.ir.ssa_externals import Externals
from polyloom.ir.ssa_types import Type
from polyloom.ir.ssa_verify import definitions, uses, verify
from polyloom.recursion import nesting_error, with_deep_stack

TARGET: Final = "riscv64-unknown-elf"
CPP_ENDINGS: Final = (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".h")
_UNIT: Final = """{before}{include}
{after}{linkage}void *const __polyloom_kept[] = {{{kept}}};
"""
# Names with `$`, as lambdas have them, are in quotes.
_DEFINED = re.compile(r'^define .*?@"?([-\w.$]+)"?\(', re.MULTILINE)
_VALUE = re.compile(r"%byte\.\d+")
_LABEL = re.compile(r'([-\w.$]+|"[^"]*"):')
_KEPT = re.compile(r"^@_*polyloom_kept = .*?\[(ptr .*?)\]", re.MULTILINE)
# The data layout string tells the width of pointers: LLVM's types are opaque.
_POINTERS = re.compile(r'^target datalayout = ".*?-p:(\d+)', re.MULTILINE)
_STRUCTURE = re.compile(r"^(%\S+|%\"[^\"]*\") = type (.*)$", re.MULTILINE)
_GLOBAL = re.compile(r'^@([-\w.$]+|"[^"]*") = (.*)$', re.MULTILINE)


def load_ssa(
    path: str, options: Options, level: int = 0, target: str = TARGET, externals: Externals | None = None
) -> Function:
    """SSA form of the function of the file that `options.function` names, or of the one that is meant (choose.py).
    Raises PL0104, PL0150 to PL0152, PL0975.
    """
    text = read_source(path, ".c").decode("utf-8", "replace")
    try:
        chosen = _require_name(path, options) if path.endswith(CPP_ENDINGS) else _choose_function(path, options, target)
    except RecursionError:
        raise nesting_error(path) from None
    language = CPP if path.endswith(CPP_ENDINGS) else C
    source, names, asserted = Source(path, text), (chosen.name,), chosen.asserted
    return load_functions(source, names, options, level, target, chosen.inlines, externals, language, asserted)[0]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A function by its name, whether what it calls becomes part of it, and where its preconditions are asserted."""

    name: str
    inlines: bool = True
    asserted: frozenset[tuple[int, int]] = frozenset()


@with_deep_stack
def _choose_function(path: str, options: Options, target: str) -> _Chosen:
    chosen, functions = choose_function(path, syntax_tree(path, options, target), options.function, calls=True)
    # Beyond the budget calls stay calls, which every target of SSA form can make.
    inlines = may_inline(chosen, {function.name: function for function in functions.values()})
    return _Chosen(chosen.name, inlines, find_preconditions(chosen).asserted)


def _require_name(path: str, options: Options) -> _Chosen:
    """C++ has no tree here in which a function could be looked for."""
    if options.function is None:
        raise input_error(
            "PL0152", f"{path} is C++, whose function is not chosen", help="name it, such as --function 'scale<8>'"
        )
    return _Chosen(options.function)


def load_functions(
    source: Source,
    names: Sequence[str],
    options: Options,
    level: int = 0,
    target: str = TARGET,
    inlines: bool = True,
    externals: Externals | None = None,
    language: tuple[str, ...] = C,
    asserted: frozenset[tuple[int, int]] = frozenset(),
) -> tuple[Function, ...]:
    """SSA form of several functions of the file, compiled at once; with `inlines` what they call becomes part of them.
    In C++ a name is an expression, such as `scale<8>`. What is `asserted` at these lines and columns is taken to hold.
    """
    kept = ", ".join(f"(void *){f'&{name}' if language is CPP else name}" for name in names)
    before, after = INLINED if inlines else ("", "")
    linkage = 'extern "C" ' if language is CPP else ""
    unit = _UNIT.format(before=before, after=after, include=include_directive(source.name), kept=kept, linkage=linkage)
    if language is C:
        # Kernels of this package in the place of C's library, so that all targets give the same bits.
        unit = with_kernels(unit, called_kernels(source.text), ENTRY)
    return import_functions(llvm_module(unit, level, target, options, language=language), source, externals, asserted)


def import_functions(
    module: str,
    source: Source,
    externals: Externals | None = None,
    asserted: frozenset[tuple[int, int]] = frozenset(),
) -> tuple[Function, ...]:
    """Functions of LLVM's text whose addresses the unit keeps in `polyloom_kept`, in that order; `source` is what
    messages show, and where something is `asserted`. Raises PL0975.

    A target that makes units of its own, around the user's file, gets here by `clang.llvm_module`.
    """
    reader = _Reader(_verify_module(module), source, externals or Externals(), asserted)
    return tuple(verify(reader.function(name)) for name in reader.kept_names())


def _verify_module(text: str) -> str:
    """The module as llvmlite prints it, which has verified it."""
    try:
        llvm: Any = import_module("llvmlite.binding")  # it has no types
    except ImportError:
        help = f"install it: `{extras.install_command('c')}`"
        raise PolyloomError(Diagnostic("PL0150", extras.NO_CLANG, USAGE, help=help)) from None
    # Printed anew, so that the text has one form: named values, no comments that matter, types spelled out.
    module = llvm.parse_assembly(text)
    module.verify()
    return str(module)


@dataclass(frozen=True, slots=True)
class _Raw:
    """A block: its phis, and its other instructions with their lines, as text."""

    name: str
    phis: tuple[tuple[Value, dict[str, Operand]], ...]
    block: Block


class _Reader:
    """Reader of a module's text: its structures, globals and places, and one function after the other."""

    def __init__(self, module: str, source: Source, externals: Externals, asserted: frozenset[tuple[int, int]]) -> None:
        self.module, self.source = module, source
        pointers = _POINTERS.search(module)
        self.model = Model(dict(_STRUCTURE.findall(module)), int(pointers[1]) if pointers else 64, externals.spaces)
        self.externals = {external.name: external for external in externals.functions}
        self.places = Places(module, source.name, externals.headers if externals.functions else None)
        self.asserted = frozenset(Place(source.name, *where) for where in asserted)
        self.place, self.numbers = NOWHERE, count()
        self.defined = set(_DEFINED.findall(module))
        self.globals = {ssa_name(f"@{name}"): text for name, text in _GLOBAL.findall(module)}
        self.values = {ssa_name(name) for name in _VALUE.findall(module)}

    def kept_names(self) -> list[str]:
        """The names that the functions of the unit have here."""
        found = _KEPT.search(self.module)
        return [name[1:].strip('"') for name in re.findall(r'ptr (@[-\w.$]+|@"[^"]*")', found[1])] if found else []

    def function(self, name: str) -> Function:
        """Function with those that it calls, and the data that they mention (a transitive closure)."""
        found: dict[str, Function] = {}
        variables: dict[str, Data] = {}
        work, used = [name], set[str]()
        try:
            while work:
                each = work.pop(0)
                if each in found or each in variables:
                    continue
                # A transitive closure: a function comes with all that it can reach in the file.
                if each in self.defined:
                    found[each] = self._read_function(each)
                    called = [i.called for block in found[each].blocks for i in block.instructions if i.called]
                    work += [name for name in called if name in self.defined]
                    work += [address.name for address in mentioned_addresses(found[each])]
                    used.update(called)
                else:
                    variables[each] = self._read_variable(each)
                    work += [address.name for _, address in variables[each].addresses]
        except Unsupported as reason:
            raise self._refusal(str(reason)) from None
        first, *others = found.values()
        data = tuple(variables[name] for name in self.globals if name in variables)
        externals = tuple(external for external in self.externals.values() if external.name in used - self.defined)
        return replace(first, data=data, others=tuple(others), externals=externals)

    def _read_function(self, name: str) -> Function:
        prototype, body = self._prototype(name)
        parts: dict[str, Value] = {}
        # Two steps: the arguments of an edge are the phis of its target, which may stand further down.
        raw = [self._read_block(label, list(lines), parts) for label, lines in _split_blocks(body)]
        self._check_parts([r.block for r in raw], parts)
        incoming = {block.name: block.phis for block in raw}
        first, *blocks = (
            replace(r.block, terminator=_with_arguments(r.name, r.block.terminator, incoming)) for r in raw
        )
        return replace(prototype, blocks=(replace(first, parameters=prototype.parameters), *blocks))

    def _prototype(self, name: str) -> tuple[Function, str]:
        """Function head: a function whose only block is empty, and the text of all blocks; `place` becomes that of its
        head.
        """
        head = rf'^define (.*?)@"?{re.escape(name)}"?\((.*)\{{\n((?:(?!\}}).*\n)*)'
        match = re.search(head, self.module, re.MULTILINE)
        if match is None:
            raise Unsupported(f"`{name}`, which clang leaves without a body,")
        before, rest, body = match.groups()
        parameters, after = _split_parenthesis(rest)
        self.place = self.places.function_place(after)
        result = self._result_type(before)
        values, unsigned, restricted = self._read_parameters(parameters)
        # clang widens narrow results by the ABI; `zeroext` is all that remains of unsignedness in LLVM's types.
        if result in NARROW and "zeroext" in before.split():
            unsigned.add(RESULT)
        return Function(
            name,
            result,
            (Block("", values, (), Unreachable()),),
            (),
            frozenset(unsigned),
            pointers=self.model.pointers,
            place=self.place,
            restricted=restricted,
        ), body

    def _callee_prototype(self, name: str) -> Function | None:
        """Prototype of a function of the file, for a call of it; None for others."""
        place = self.place
        prototype = self._prototype(name)[0] if name in self.defined else None
        # Reading another function's head must not move the place that messages name.
        self.place = place
        return prototype

    def _result_type(self, before: str) -> Type | None:
        """The type, before which attributes stand."""
        words = skip_to_type(Words(before, self.model))
        if words.take("void"):
            return None
        if words.peek() in ("[", "{", "<") or words.peek() in self.model.structures:
            raise Unsupported("a structure or an array as a result")
        return words.scalar()

    def _read_parameters(self, text: str) -> tuple[tuple[Value, ...], set[int], frozenset[int]]:
        """Parameters, and the positions of unsigned ones (`zeroext`) and of restricted ones (`noalias`: `restrict` of
        C17, section 6.7.3.1).
        """
        words = Words(text, self.model)
        found: list[Value] = []
        unsigned: set[int] = set()
        restricted: set[int] = set()
        while words.peek():
            if words.peek() == "...":
                raise Unsupported("a variable number of arguments")
            type = words.scalar()
            while words.peek() not in (",", "") and not words.peek().startswith("%"):
                if words.peek() in ("byval", "sret"):
                    # Its layout in registers and memory is the ABI's affair, and LLVM's text no longer tells all of it.
                    raise Unsupported("a structure by value")
                if type in NARROW and words.peek() == "zeroext":
                    unsigned.add(len(found))
                if words.peek() == "noalias":
                    restricted.add(len(found))
                words.skip()
            found.append(Value(ssa_name(words.pop()), type))
            words.take(",")
        return tuple(found), unsigned, frozenset(restricted)

    def _read_block(self, name: str, lines: list[str], parts: dict[str, Value]) -> _Raw:
        lowering = Lowering(self.model, self._fresh_name, self._callee_prototype, self.externals, parts, self.asserted)
        phis: list[tuple[Value, dict[str, Operand]]] = []
        end: Terminator = Unreachable()
        for line in lines:
            text, _, metadata = line.partition(", !")
            place = re.search(r"!dbg !(\d+)", "!" + metadata)
            lowering.place = self.places.find_place(place[1]) if place else NOWHERE
            self.place = lowering.place if lowering.place.line else self.place
            if re.match(r"%\S+ = phi ", text):
                phis.append(read_phi(text, self.model))
            elif (found := read_terminator(text, lowering.place, self.model)) is not None:
                end = found
            else:
                lowering.instruction(text)
        return _Raw(name, tuple(phis), Block(name, tuple(value for value, _ in phis), tuple(lowering.made), end))

    def _check_parts(self, blocks: list[Block], parts: dict[str, Value]) -> None:
        """A vector that came as an integer must have become a vector again."""
        defined = {value.name for block in blocks for value in definitions(block)}
        for block in blocks:
            for operand in (o for _, group in uses(block) for o in group if isinstance(o, Value)):
                if operand.name in parts and operand.name not in defined:
                    raise Unsupported(f"a vector that came out of a call as an integer, `%{operand.name}`,")

    def _read_variable(self, name: str) -> Data:
        """A variable of the module."""
        if name not in self.globals:
            raise Unsupported(f"the address of the function `{name}`, whose body is not in this file,")
        return read_variable(name, self.globals[name], self.model)

    def _fresh_name(self) -> str:
        """A name that no value of the module has."""
        return next(name for n in self.numbers if (name := f"byte.{n}") not in self.values)

    def _refusal(self, what: str) -> PolyloomError:
        """Diagnostic PL0975 at the source line of the instruction that is not supported."""
        source, line = self.places.source(self.place, self.source), self.place.line
        lines = source.text.split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        start = sum(len(line) + 1 for line in lines[: line - 1]) + len(text) - len(text.lstrip())
        span = Span(source, start, start + len(text.strip())) if text.strip() else None
        help = _ASSERT_HELP if what == ASSERTION else _HELP
        return input_error("PL0975", f"{what} is not supported in SSA form", span=span, help=help)


_HELP: Final = "use scalars of at most 64 bits and pointers; call functions of the same file"
_ASSERT_HELP: Final = (
    "assert what integer parameters satisfy, at the head of the function; leave other assertions out by -D NDEBUG"
)


def _split_parenthesis(text: str) -> tuple[str, str]:
    """Split of a text at the parenthesis that closes one before the text: what stands before it, and what behind."""
    depth = 1
    for place, mark in enumerate(text):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if depth == 0:
            return text[:place], text[place + 1 :]
    raise Unsupported(f"`{text}`")


def _split_blocks(body: str) -> Iterator[tuple[str, list[str]]]:
    """Basic blocks of a function's text: labels, and the instructions as lines; the cases of a switch, which take
    several lines, are joined.
    """
    label, lines, inside = "", list[str](), False
    for line in (raw.strip() for raw in body.split("\n")):
        if (match := _LABEL.match(line)) and not inside:
            if lines:
                yield label, lines
            label, lines = ssa_name("%" + match[1]), []
        elif line and not line.startswith((";", "#dbg")):
            lines[-1:] = [f"{lines[-1]} {line}"] if inside else [*lines[-1:], line]
            inside = lines[-1].startswith("switch") and "]" not in lines[-1]
    yield label, lines


def _with_arguments(
    name: str, end: Terminator, incoming: dict[str, tuple[tuple[Value, dict[str, Operand]], ...]]
) -> Terminator:
    """Block arguments instead of phi functions, for the edges of a terminator (Appel 1998, "SSA is functional
    programming").
    """

    def edge(target: Edge) -> Edge:
        return Edge(target.block, tuple(values[name] for _, values in incoming[target.block]))

    return replace_edges(end, lambda operand: operand, edge)
