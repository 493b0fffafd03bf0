# SPDX-License-Identifier: Apache-2.0
"""Kernels of very many statements, as Python, C and equations: independent ones, one long chain, and all on four
arrays."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["independent", "chain", "few", "apart"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Language = Literal["py", "c", "pla"]
LOOPS, SIZES = ("i", "j", "k"), ("N", "M", "K")


def text(kind: Kind, language: Language, dims: int, count: int) -> str:
    """`count` statements in a nest of `dims` loops; `apart` puts each into a nest of its own, and equations are chained
    or independent."""
    if language == "pla":
        return _equations(kind, dims, count)
    shape, element = ("".join(f"[{s}]" for s in SIZES[:dims]), "".join(f"[{x}]" for x in LOOPS[:dims]))
    if language == "py":
        shape, element = (t.replace("][", ", ") for t in (shape, element))
    arrays, statements = _statements(kind, count, element)
    nests = [[s] for s in statements] if kind == "apart" else [statements]
    if language == "py":
        lines = ["import polyloom as pl", "", *(f'{n} = pl.size("{n}")' for n in SIZES[:dims]), "", "", "@pl.kernel"]
        lines += [
            f"def f({', '.join(f'{a}: pl.i32{shape}' for a in arrays)}) -> None:",
            *(line for nest in nests for line in _python(dims, nest)),
        ]
    else:
        lines = [f"void f({', '.join([*(f'int {n}' for n in SIZES[:dims]), *(f'int {a}{shape}' for a in arrays)])}) {{"]
        lines += ["  int t;", *(line for nest in nests for line in _c(dims, nest)), "}"]
    return "\n".join([*lines, ""])


def _statements(kind: Kind, count: int, element: str) -> tuple[list[str], list[str]]:
    match kind:
        case "chain":
            middle = [f"t = t * {n % 7 + 2} + {n}" for n in range(count - 2)]
            return ["X", "Y"], [f"t = Y{element} + 1", *middle, f"X{element} = t"]
        case "few":
            pairs = [("ABCD"[n % 4], "ABCD"[(n + 1) % 4]) for n in range(count)]
            return list("ABCD"), [f"{a}{element} = {a}{element} + {b}{element} * {n}" for n, (a, b) in enumerate(pairs)]
        case "independent" | "apart":
            return ["Y", *(f"X{n}" for n in range(count))], [f"X{n}{element} = Y{element} + {n}" for n in range(count)]


def _python(dims: int, statements: list[str]) -> list[str]:
    loops = [
        f"{'    ' * n}for {x} in range({s}):"
        for n, (x, s) in enumerate(zip(LOOPS[:dims], SIZES[:dims], strict=True), 1)
    ]
    return [*loops, *(f"{'    ' * (dims + 1)}{s}" for s in statements)]


def _c(dims: int, statements: list[str]) -> list[str]:
    loops = [f"  for (int {x} = 0; {x} < {s}; {x}++)" for x, s in zip(LOOPS[:dims], SIZES[:dims], strict=True)]
    return [*loops, "  {", *(f"    {s};" for s in statements), "  }"]


def _equations(kind: Kind, dims: int, count: int) -> str:
    here, shape = f"[{', '.join(LOOPS[:dims])}]", f"[{', '.join(SIZES[:dims])}]"
    outputs, chain = [f"X{n}" for n in range(count)], kind == "chain"
    equations = (
        [f"t{n}{here} = {f't{n - 1}' if n else 'Y'}{here} + {n}" for n in range(count)]
        if chain
        else [f"t{here} = Y{here}"]
    )
    equations += (
        [f"X{here} = t{count - 1}{here}"] if chain else [f"{x}{here} = t{here} + {n}" for n, x in enumerate(outputs)]
    )
    head = [f"parameter {', '.join(f'{s} >= 0' for s in SIZES[:dims])}", f"input Y{shape}: i32"]
    head += [f"output {', '.join(f'{x}{shape}: i32' for x in (['X'] if chain else outputs))}"]
    space = ", ".join(f"0 <= {x} < {s}" for x, s in zip(LOOPS[:dims], SIZES[:dims], strict=True))
    return "\n".join([*head, f"for {space} do", *(f"  {e}" for e in equations), ""])
