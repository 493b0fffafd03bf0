# SPDX-License-Identifier: Apache-2.0
"""Superoptimizer of the select table (Massalin 1987; Granlund and Kenner 1992): `python -m
polyloom.riscv.selects.search` prints select.txt (`make select-table`).

For every form and set of extensions all straight-line code of 1, 2, ... instructions of the set's steps is tried on
samples of edges and random values (native/riscv/search.hpp), for both widths, until some computes the form on many more
samples; of these the one of least depth is kept. That it is right for all inputs is proved in the tests. Steps are
those for which selects are made: no multiplication, shifts by registers only for forms that have one, and the
immediates 1, -1 and XLEN-1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from polyloom._native import riscv
from polyloom.riscv.selects.expression import Expression, Node, evaluate, expression_names, is_boolean
from polyloom.riscv.selects.notation import parse_expression
from polyloom.riscv.selects.table import SETS, Line

# The number of sequences grows by a factor of hundreds per instruction: steps times pairs of operands.
LENGTH: Final = 4
"""How far all forms are searched."""
LONGER: Final = {f"x {less} y ? y - x : x - y": 5 for less in ("<", "<u")}
"""Forms that are searched further."""
_SAMPLES: Final = 64
_CHECKS: Final = 4000
_RANDOM: Final = 2
# Bound on the candidates of a length, each of which is tested on many samples.
_MOST: Final = 2000
_STEPS: Final = (
    *(
        "add {},{}",
        "sub {},{}",
        "and {},{}",
        "or {},{}",
        "xor {},{}",
        "slt {},{}",
        "sltu {},{}",
        "czero.eqz {},{}",
        "czero.nez {},{}",
    ),
    *(
        "andn {},{}",
        "orn {},{}",
        "xnor {},{}",
        "min {},{}",
        "max {},{}",
        "minu {},{}",
        "maxu {},{}",
        "sll {},{}",
        "srl {},{}",
        "sra {},{}",
    ),
    *("addi {},1", "addi {},-1", "not {}", "xori {},1", "andi {},1", "seqz {}", "srai {},XLEN-1"),
)
"""The steps of native/riscv/search.hpp, in its order, as lines without their result."""
_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("add", "sub", "and", "or", "xor", "slt", "sltu", "addi", "not", "xori", "andi", "seqz", "srai"),
    "zbb": ("andn", "orn", "xnor", "min", "max", "minu", "maxu"),
    "zicond": ("czero.eqz", "czero.nez"),
}


def forms() -> Iterator[str]:
    """Forms that are searched: conditional select, increment, inversion, negation and their like, minima, differences,
    signs.
    """
    arms = ["b", "b + 1", "~b", "-b"]
    groups = ["a + b", "a - b", "a | b", "a ^ b", "a & b", "a << b", "a >> b", "a >>u b"]
    # `s` is 0 or 1: its forms have shorter sequences, since a mask is one instruction.
    for c in ("c", "s"):
        both = (
            [("a", arm) for arm in arms]
            + [(arm, "b") for arm in ("b + 1", "b + -1", "~b", "-b")]
            + [(group, "a") for group in groups]
        )
        both += [("a", "0"), ("a", "-1"), ("a", "1"), ("-1", "0")]
        for a, b in both:
            yield f"{c} ? {a} : {b}"
            # Exchanged arms are a form of their own: a condition that is any number has no inverse for free.
            yield f"{c} ? {b} : {a}"
    yield from ("c ? 1 : 0", "c ? 0 : 1", "s ? 0 : 1")
    for less in ("<", "<u"):
        yield from (
            f"x {less} y ? x : y",
            f"x {less} y ? y : x",
            f"x {less} y ? y - x : x - y",
            f"x {less} y ? 0 : x - y",
            f"y {less} x ? x - y : 0",
        )
    yield from (
        "x + y <u x ? -1 : x + y",
        "x < 0 ? -x : x",
        "0 < x ? x : -x",
        "x < 0 ? x : -x",
        "x < 0 ? 0 : x",
        "0 < x ? x : 0",
    )
    yield from (
        "(0 < x) - (x < 0)",
        "x < 0 ? -1 : x ? 1 : 0",
        "0 < x ? 1 : x < 0 ? -1 : 0",
        "(y < x) - (x < y)",
        "(y <u x) - (x <u y)",
    )
    for test in ("x < y", "x <u y", "x <= y", "x <=u y", "x == y", "x != y"):
        yield from (test, f"{test} ? -1 : 0", f"{test} ? a : 0", f"{test} ? a : b")
    for test in ("x < y", "x == y"):
        yield from (f"{test} ? a : {arm}" for arm in arms[1:])
    yield from (f"x < y ? {arm} : b" for arm in arms[1:])
    yield from (f"x < y ? {group} : a" for group in groups[:6])


def search_form(form: str, extensions: frozenset[str]) -> tuple[int, tuple[Line, ...]]:
    """Search for one form: (greatest length searched in vain, the lines of the first that is not, () for none)."""
    expression, longest = parse_expression(form), LONGER.get(form, LENGTH)
    for length in range(1, longest + 1):
        found = [_candidates(expression, extensions, length, xlen) for xlen in (64, 32)]
        if found[0] or found[1]:
            # A sequence of the table serves both widths.
            both = [lines for lines in found[0] if lines in found[1]]
            good = (
                lines
                for lines in sorted(both, key=_depth)
                # The native search compares few samples; what is left is tried on many, and proved by z3 in the tests.
                if all(_computes(lines, expression, xlen) for xlen in (64, 32))
            )
            lines = next(good, ())
            if lines:
                return length - 1, lines
    return longest, ()


def _candidates(expression: Expression, extensions: frozenset[str], length: int, xlen: int) -> list[tuple[Line, ...]]:
    """Candidate sequences of one length, which are right on the samples."""
    names, samples = inputs(expression), _samples(expression, _SAMPLES, xlen)
    target = [evaluate(expression, dict(zip(names, values, strict=True)), xlen) for values in samples]
    allowed = [n for n, step in enumerate(_STEPS) if _is_allowed_step(step.split()[0], expression, extensions)]
    columns = [list(column) for column in zip(*samples, strict=True)]
    return [_named_lines(sequence, names) for sequence in riscv.search(xlen, columns, target, allowed, length, _MOST)]


def inputs(expression: Expression) -> tuple[str, ...]:
    """The names that it reads, in alphabetical order."""
    return tuple(sorted(expression_names(expression)))


def _is_allowed_step(mnemonic: str, expression: Expression, extensions: frozenset[str]) -> bool:
    if mnemonic in ("sll", "srl", "sra"):
        return _has_shift(expression)
    return any(mnemonic in _OF[name] for name in ("", *extensions))


def _has_shift(expression: Expression) -> bool:
    return isinstance(expression, Node) and (
        expression.operator in ("<<", ">>", ">>u") or any(map(_has_shift, expression.operands))
    )


def _named_lines(sequence: Sequence[tuple[int, int, int]], names: tuple[str, ...]) -> tuple[Line, ...]:
    places = ["zero", *names, *(f"t{n}" for n in range(len(sequence) - 1)), "rd"]
    made: list[Line] = []
    for number, (step, a, b) in enumerate(sequence):
        mnemonic, _, operands = _STEPS[step].format(places[a], places[b]).partition(" ")
        made.append(_with_pseudo(mnemonic, (places[1 + len(names) + number], *operands.split(","))))
    return tuple(made)


def _with_pseudo(mnemonic: str, operands: tuple[str, ...]) -> Line:
    """Line with the pseudo-instructions that people read: neg, snez and li."""
    if mnemonic in ("sub", "sltu") and operands[1] == "zero":
        return Line("neg" if mnemonic == "sub" else "snez", (operands[0], operands[2]))
    if mnemonic == "addi" and operands[1] == "zero":
        return Line("li", (operands[0], operands[2]))
    return Line(mnemonic, operands)


def _depth(lines: tuple[Line, ...]) -> tuple[int, tuple[str, ...]]:
    """Depth of a sequence: the length of its longest dependence chain; then the text, so that the order is total."""
    depths: dict[str, int] = {}
    for line in lines:
        depths[line.operands[0]] = 1 + max((depths.get(operand, 0) for operand in line.operands[1:]), default=0)
    return depths["rd"], tuple(map(str, lines))


def run_lines(lines: Sequence[Line], values: Mapping[str, int], xlen: int) -> int:
    """Interpreter of sequences: what the lines leave in rd."""
    registers = {"zero": 0, **values}
    for line in lines:
        operands = [
            registers[o] if o in registers else xlen - 1 if o == "XLEN-1" else int(o) % (1 << xlen)
            for o in line.operands[1:]
        ]
        registers[line.operands[0]] = evaluate(_meaning(line.mnemonic), dict(zip("ab", operands, strict=False)), xlen)
    return registers["rd"]


@cache
def _meaning(mnemonic: str) -> Expression:
    return parse_expression(MEANINGS[mnemonic])


MEANINGS: Final[Mapping[str, str]] = {
    "add": "a + b",
    "sub": "a - b",
    "and": "a & b",
    "or": "a | b",
    "xor": "a ^ b",
    "slt": "a < b",
    "sltu": "a <u b",
    "neg": "-a",
    "not": "~a",
    "li": "a",
    "andn": "a & ~b",
    "orn": "a | ~b",
    "xnor": "~(a ^ b)",
    "min": "min(a, b)",
    "max": "max(a, b)",
    "minu": "minu(a, b)",
    "maxu": "maxu(a, b)",
    "sll": "a << b",
    "srl": "a >>u b",
    "sra": "a >> b",
    "addi": "a + b",
    "xori": "a ^ b",
    "andi": "a & b",
    "ori": "a | b",
    "mul": "a * b",
    "slli": "a << b",
    "srli": "a >>u b",
    "srai": "a >> b",
    "slti": "a < b",
    "sltiu": "a <u b",
    "seqz": "a == 0",
    "snez": "a != 0",
    "lui": "((a ^ 0x80000) - 0x80000) << 12",
    "addiw": "((a + b & 0xffffffff) ^ 0x80000000) - 0x80000000",
    "czero.eqz": "b ? a : 0",
    "czero.nez": "b ? 0 : a",
    "mv": "a",
}
"""What each mnemonic of the table computes from its operands a and b."""


def _computes(lines: Sequence[Line], expression: Expression, xlen: int) -> bool:
    """Whether the lines compute the expression on many samples."""
    names = inputs(expression)
    samples = (dict(zip(names, values, strict=True)) for values in _samples(expression, _CHECKS, xlen))
    return all(run_lines(lines, values, xlen) == evaluate(expression, values, xlen) for values in samples)


def _samples(expression: Expression, count: int, xlen: int) -> list[tuple[int, ...]]:
    """Test vectors of the inputs: first random ones, then also edges and repetitions of one another; booleans are 0 or
    1.
    """
    # A fixed seed: the table must be the same in every run.
    choose, names = random.Random(count + xlen), inputs(expression)
    top = 1 << xlen - 1
    edges = [0, 0, 0, 1, 2, xlen - 1, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1]
    made: list[tuple[int, ...]] = []
    for number in range(count):
        values: list[int] = []
        for name in names:
            kinds = (
                [choose.getrandbits(xlen)]
                if number < _RANDOM
                else [
                    choose.choice(edges),
                    choose.getrandbits(xlen),
                    choose.getrandbits(xlen),
                    choose.choice([*values, 0]),
                    choose.getrandbits(4),
                ]
            )
            values.append(choose.getrandbits(1) if is_boolean(name) else choose.choice(kinds))
        made.append(tuple(values))
    return made


def table_lines() -> Iterator[str]:
    """The lines of select.txt, in order."""
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield (
        "# Made by `python -m polyloom.riscv.selects.search` (`make select-table`). A form, then for every set of "
        "extensions the"
    )
    yield (
        "# greatest length of which no sequence computes it, as far as was searched, and a sequence of one more "
        "instruction."
    )
    for form in dict.fromkeys(forms()):
        yield form
        for extensions in SETS:
            searched, lines = search_form(form, extensions)
            name = "+".join(sorted(extensions)) or "base"
            text = " ; ".join(f"{line.mnemonic} {','.join(line.operands)}" for line in lines)
            yield f"  {name:12} {searched} {text}".rstrip()


if __name__ == "__main__":
    for line in table_lines():
        print(line, flush=True)
    sys.exit(0)
