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
from collections.abc import Iterator, Mapping, Sequence
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
        stored = {store.target.name for store in stores((statement,))}
        if not isinstance(statement, Store):
            yield statement
        elif statement.target.name not in single or not _is_shared(statement):
            yield statement
        else:
            # The text of a value tells types and zeros of both signs apart, and has no places of the source.
            text = print_value(statement.value)
            first = known.get(text)
            if first is not None and first.target.shape == statement.target.shape:
                names[statement.target.name] = first.target.name
                continue
            yield statement
            known[text] = statement
        known = {text: s for text, s in known.items() if not stored & {read.name for read in reads(s.value)}}


def _is_shared(store: Store) -> bool:
    """Whether a store is of a whole array, and its value costs more than to be computed again."""
    is_whole = store.target.index == axes(len(store.target.shape))
    return is_whole and (has_sum(store.value) or cost(store.value) > _FEW)


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
