# SPDX-License-Identifier: Apache-2.0
"""Common subexpression elimination of whole arrays (Cocke, "Global common subexpression elimination", 1970): a value
that a local array holds already is not computed for another one, which is then a second name of the first.

    s = |h|.max(axis=1) / 127;  p = f(s);  t = |h|.max(axis=1) / 127;  q = f(t)
    becomes  s = |h|.max(axis=1) / 127;  p = f(s);  q = f(s)

Functions that a kernel calls several times with one argument are written so. Legal where both arrays are stored once,
as a whole, outside of loops and branches, and nothing stores to what they read in between. Cheap values are left to
fusion, which computes them where they are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from polyloom.ir.arrays.program import (
    For,
    If,
    Program,
    Read,
    Statement,
    Store,
    Value,
    axes,
    has_sum,
    parts,
    reads,
    stores,
    with_parts,
)
from polyloom.ir.arrays.text import print_value
from polyloom.transform.arrays.hoist import cost

_FEW = 3
"""Operations per element that fusion computes again."""


def merge_common_values(program: Program) -> Program:
    """The program in which no two local arrays hold the same costly value."""
    writes = Counter(store.target.name for store in stores(program.body))
    single = {s.name for s in program.storage if s.role == "local" and writes[s.name] == 1}
    names = dict[str, str]()
    body = tuple(_kept_statements(program.body, single, names))
    storage = tuple(s for s in program.storage if s.name not in names)
    return replace(program, body=body, storage=storage)


def _kept_statements(body: Sequence[Statement], single: set[str], names: dict[str, str]) -> Iterator[Statement]:
    """Statements of the outermost block without stores of known values; `names` are of arrays by those of which they
    are copies (extended).
    """
    known = dict[str, Store]()
    for given in body:
        statement = _rename_statement(given, names) if names else given
        text = _shared_text(statement, single)
        first = None if text is None else known.get(text)
        if isinstance(statement, Store) and first is not None and first.target.shape == statement.target.shape:
            names[statement.target.name] = first.target.name
            continue
        yield statement
        if isinstance(statement, Store) and text is not None:
            known[text] = statement
        stored = {store.target.name for store in stores((statement,))}
        known = {text: s for text, s in known.items() if not stored & {read.name for read in reads(s.value)}}


def _shared_text(statement: Statement, single: Container[str]) -> str | None:
    """Text of the value of a store to a whole local array that costs more than to be computed again, else None. It
    tells types and zeros of both signs apart, and has no places of the source.
    """
    if not isinstance(statement, Store) or statement.target.name not in single:
        return None
    is_whole = statement.target.index == axes(len(statement.target.shape))
    is_costly = has_sum(statement.value) or cost(statement.value) > _FEW
    return print_value(statement.value) if is_whole and is_costly else None


def _rename_statement(statement: Statement, names: Mapping[str, str]) -> Statement:
    match statement:
        case Store():
            return replace(statement, value=_rename_value(statement.value, names))
        case For(body=body):
            return replace(statement, body=tuple(_rename_statement(each, names) for each in body))
        case If(body=body, orelse=orelse):
            sides = [tuple(_rename_statement(each, names) for each in side) for side in (body, orelse)]
            return replace(statement, body=sides[0], orelse=sides[1])


def _rename_value(value: Value, names: Mapping[str, str]) -> Value:
    if isinstance(value, Read):
        return replace(value, name=names.get(value.name, value.name))
    return with_parts(value, [_rename_value(part, names) for part in parts(value)])
