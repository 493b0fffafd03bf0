# SPDX-License-Identifier: Apache-2.0
"""Generator of the tables of docs/sfpi.md: each name of the vector language with an example, what that compiles to, and
its results; and the operations, which the vendor's builtins and our own functions are. Made of library.txt and the
table of operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from polyloom.targets.tensix.run.library import (
    Entry,
    compile_examples,
    entries,
    example_mnemonics,
    format_lanes,
    interpret_example,
    operand_rows,
    result_address,
)
from polyloom.targets.tensix.source.operations import CONDITIONS, Operation, operations

BEGIN: Final = "<!-- library: made of library.txt by tests/targets/tensix/sfpi/headers/test_library.py -->"
END: Final = "<!-- end of library -->"
_WITHOUT_RESULT: Final = "approx_exp"
"""Of the examples; the rounding of what it compiles to is not published."""


def library_tables() -> str:
    """Markdown of the reference: a section per heading, and one of the operations."""
    return "\n".join([BEGIN, *_sections(), *_operations(), "", END])


def _sections() -> Iterator[str]:
    heading = ""
    for entry in entries():
        if entry.heading != heading:
            heading = entry.heading
            yield from (
                "",
                f"### {heading}",
                "",
                "| names | meaning | example | compiles to | gives |",
                "|---|---|---|---|---|",
            )
        yield _entry_row(entry)


def _entry_row(entry: Entry) -> str:
    made = example_mnemonics(entry)
    words = f"{len(made)}: {', '.join(_run_lengths(made))}" if made else "0"
    gives = ", ".join(example_results(entry)) if entry.names != _WITHOUT_RESULT else ""
    names = ", ".join(f"`{name}`" if " " not in name else name for name in entry.names.split(", "))
    cells = (names, entry.meaning, f"`{entry.example}`", words, gives)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _run_lengths(made: list[str]) -> Iterator[str]:
    """Run-length encoding of equal mnemonics: `3 SFPLOADI`."""
    start = 0
    for k in range(1, len(made) + 1):
        if k == len(made) or made[k] != made[start]:
            yield made[start] if k - start == 1 else f"{k - start} {made[start]}"
            start = k


def example_results(entry: Entry) -> list[str]:
    """Results of an example in four lanes, by the interpreter."""
    form = compile_examples(entry.member)[entry]
    return format_lanes(interpret_example(form, operand_rows(), entry.member), result_address(form))


def _operations() -> Iterator[str]:
    yield from ("", "### Operations", "")
    yield "The library consists of these operations; passes and messages use their names. Those that begin with"
    yield "`sfp` are the vendor's builtins, `__builtin_rvtt_sfpmad(a, b, c, mod)`, except `sfpsub`. Conditions of"
    yield f"comparisons are, from 0 on, {', '.join(CONDITIONS)}."
    yield from ("", "| operation | operands | compiles to | meaning |", "|---|---|---|---|")
    yield from (_operation_row(row) for row in operations().values())


def _operation_row(row: Operation) -> str:
    operands = ", ".join(operand.name for operand in row.operands)
    marks = " (Blackhole)" if row.only_blackhole else ""
    return f"| `{row.name}`{marks} | {operands} | {row.words} | {row.meaning} |"
