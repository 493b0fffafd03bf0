# SPDX-License-Identifier: Apache-2.0
"""Random sums over windows of constant extents, as Python and as C texts of the same loops.

A window is one to three loops of 1 to 4 iterations; around, between and inside them are loops over sizes and further
loops of constant extent. What is summed up is a scalar, an element of a local array, or an element of the output, and
the window moves over the input by 1 to 3 elements per iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

Target = Literal["scalar", "local", "output"]
TARGETS: tuple[Target, ...] = get_args(Target)
TYPES = {"f32": "float", "i32": "int"}
SIZES = ("N", "M")


@dataclass(frozen=True, slots=True)
class Around:
    """A loop that is not summed over; `extent` is a size or a number, and each dimension of the output belongs to
    one."""

    name: str
    extent: str
    stride: int


@dataclass(frozen=True, slots=True)
class Window:
    """`out[around] = sum over within of inp[stride * around + within]`, the sum in `target`. The last `inside` of the
    loops `around` stand among those that sum, in the order `summing`: each of their iterations has its own element of
    the target."""

    dtype: str
    target: Target
    around: tuple[Around, ...]
    within: tuple[int, ...]
    inside: int
    summing: tuple[str, ...]

    @property
    def sizes(self) -> tuple[str, ...]:
        return tuple(n for n in SIZES if any(a.extent == n for a in self.around))


def window(seed: int) -> Window:
    random = Random(seed)
    within = tuple(random.choice((1, 2, 2, 2, 3, 4)) for _ in range(random.choice((1, 2, 2, 3))))
    extents = [
        *SIZES[: random.choice((0, 1, 1, 2))],
        *(str(random.randint(1, 4)) for _ in range(random.choice((0, 0, 1)))),
    ] or ["N"]
    random.shuffle(extents)
    around = tuple(Around("yxz"[n], extent, random.randint(1, 3)) for n, extent in enumerate(extents))
    target = random.choice(TARGETS)
    inside = random.choice((0, 0, 1)) if target != "scalar" and len(around) > 1 else 0
    summing = [f"d{n}" for n in range(len(within))] + [a.name for a in around[len(around) - inside :]]
    random.shuffle(summing)
    return Window(random.choice(tuple(TYPES)), target, around, within, inside, tuple(summing))


def python_text(w: Window) -> str:
    """Python has no local arrays: `w` sums up in a scalar or in the output."""
    return "\n".join([*_python_header(w), *(f"    {line}" for line in _lines(w, _PYTHON)), ""])


def c_text(w: Window) -> str:
    kind = TYPES[w.dtype]
    shapes = ", ".join(
        [
            *(f"int {n}" for n in w.sizes),
            *(f"{kind} {name}{''.join(f'[{e}]' for e in shape)}" for name, shape in _arrays(w)),
        ]
    )
    own = "".join(f"[{e}]" for e in _inner(w)) if w.target == "local" else ""
    local = [] if w.target == "output" else [f"  {kind} s{own};"]
    return "\n".join([f"void f({shapes}) {{", *local, *(f"  {line}" for line in _lines(w, _C)), "}", ""])


@dataclass(frozen=True, slots=True)
class _Language:
    loop: str
    indent: str
    close: tuple[str, ...]
    index: str
    end: str


_PYTHON = _Language("for {0} in range({1}):", "    ", (), ", ", "")
_C = _Language("for (int {0} = 0; {0} < {1}; {0}++) {{", "  ", ("}",), "][", ";")


def _python_header(w: Window) -> list[str]:
    arguments = ", ".join(f"{name}: pl.{w.dtype}[{', '.join(shape)}]" for name, shape in _arrays(w))
    sizes = [f'{n} = pl.size("{n}")' for n in w.sizes]
    return ["import polyloom as pl", "", *sizes, "", "", "@pl.kernel", f"def f({arguments}) -> None:"]


def _arrays(w: Window) -> list[tuple[str, list[str]]]:
    """The names and shapes of the arguments: the input has a dimension for each loop."""
    free = len(w.around) - len(w.within)
    read = [
        _extent(a, w.within[n - max(free, 0)] if 0 <= n - max(free, 0) < len(w.within) else 1)
        for n, a in enumerate(w.around)
    ]
    more = [str(e) for e in w.within[len(w.around) :]]
    return [("inp", read + more), ("out", [a.extent for a in w.around])]


def _extent(around: Around, within: int) -> str:
    return f"{around.stride} * {around.extent} + {within}"


def _inner(w: Window) -> list[str]:
    """The shape of the local array: an element for each iteration of the loops inside."""
    return [a.extent for a in w.around[len(w.around) - w.inside :]] or ["1"]


def _lines(w: Window, language: _Language) -> list[str]:
    outer, inner = w.around[: len(w.around) - w.inside], w.around[len(w.around) - w.inside :]
    element = language.index.join(a.name for a in w.around)
    inside = language.index.join(a.name for a in inner) or "0"
    total = {"scalar": "s", "local": f"s[{inside}]", "output": f"out[{element}]"}[w.target]
    zero = "0.0" if w.dtype == "f32" else "0"
    free = max(len(w.around) - len(w.within), 0)
    index = [
        f"{a.stride} * {a.name}" + (f" + d{n - free}" if 0 <= n - free < len(w.within) else "")
        for n, a in enumerate(w.around)
    ]
    index += [f"d{n}" for n in range(len(w.around), len(w.within))]
    extents = {f"d{n}": str(e) for n, e in enumerate(w.within)} | {a.name: a.extent for a in inner}
    body = _loops([(a.name, a.extent) for a in inner], [f"{total} = {zero}{language.end}"], language)
    body += _loops(
        [(name, extents[name]) for name in w.summing],
        [f"{total} += inp[{language.index.join(index)}]{language.end}"],
        language,
    )
    if w.target != "output":
        body += _loops([(a.name, a.extent) for a in inner], [f"out[{element}] = {total}{language.end}"], language)
    return _loops([(a.name, a.extent) for a in outer], body, language)


def _loops(loops: list[tuple[str, str]], body: list[str], language: _Language) -> list[str]:
    if not loops:
        return body
    (name, extent), *rest = loops
    return [
        language.loop.format(name, extent),
        *(f"{language.indent}{line}" for line in _loops(rest, body, language)),
        *language.close,
    ]
