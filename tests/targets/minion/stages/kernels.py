# SPDX-License-Identifier: Apache-2.0
"""Random functions that are products with something around them, with what NumPy makes of the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = dict[str, Array]
_ELEMENT = {"f32": "f32", "f16": "f32", "i8": "i32", "u8": "i32"}
_DTYPE = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i32": np.int32}
_TERMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "{a} * {b}": lambda x, a, b: a @ b,
    "x * {a} * {b}": lambda x, a, b: x * (a @ b),
    "{a} * x * {b}": lambda x, a, b: x * (a @ b),
    "{a} * {b} * x": lambda x, a, b: x * (a @ b),
    "x * ({a} * {b})": lambda x, a, b: x * (a @ b),
    "{a} * (x * {b})": lambda x, a, b: x * (a @ b),
    "({a} + {a}) * {b}": lambda x, a, b: 2 * (a @ b),
    "({a} - x) * {b}": lambda x, a, b: (a - x) @ b,
}
_BEGINS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "0": lambda c, y, v: 0 * c,
    "1": lambda c, y, v: 0 * c + 1,
    "{c} * y": lambda c, y, v: c * y,
    "{c}": lambda c, y, v: c,
    "v[j]": lambda c, y, v: v[None, :] + 0 * c,
    "{c} - v[j]": lambda c, y, v: c - v[None, :],
}
_ENDS: dict[str, Callable[[Any, Any], Any]] = {
    "": lambda s, y: s,
    "s * y": lambda s, y: s * y,
    "y - s": lambda s, y: y - s,
    "max(s, y)": np.maximum,
}
_ORDERS = ("ijk", "ikj", "jik", "kij", "jki")


@dataclass(frozen=True)
class Kernel:
    """The text of a function `f`, its sizes, inputs of a seed, and the expected results in double precision."""

    text: str
    element: str
    sizes: dict[str, int]
    expected: Callable[[Arrays], Arrays]


def kernel(seed: int) -> Kernel:
    rng = Random(seed)
    element = rng.choice(["f32", "f32", "f32", "f16", "i8", "u8"])
    total = _ELEMENT[element]
    wide = "{}" if element == "f32" else f"pl.to_{total}({{}})"
    term, begin, end = rng.choice(list(_TERMS)), rng.choice(list(_BEGINS)), rng.choice(list(_ENDS))
    sign, order = rng.choice("++-"), rng.choice(_ORDERS)
    turned = {name: rng.random() < 0.3 for name in "abc"}
    at = {
        "a": "k,i" if turned["a"] else "i,k",
        "b": "j,k" if turned["b"] else "k,j",
        "c": "j,i" if turned["c"] else "i,j",
    }
    a, b, c = wide.format(f"A[{at['a']}]"), wide.format(f"B[{at['b']}]"), f"C[{at['c']}]"
    body = _body(order, c, begin.format(c=c, v="v"), sign, term.format(a=a, b=b), end)
    after = rng.choice(["", "relu", "again", "transposed", "update"])
    body += _after(after, c, element)
    shape = {"i": "N", "j": "M", "k": "K"}
    sides = {name: ", ".join(shape[d] for d in at[name].split(",")) for name in "abc"}
    arguments = [f"A: pl.{element}[{sides['a']}]", f"B: pl.{element}[{sides['b']}]", f"C: pl.{total}[{sides['c']}]"]
    arguments += [f"x: pl.{total}", f"y: pl.{total}", f"v: pl.{total}[M]", f"D: pl.{total}[N, M]"]
    head = (
        "import polyloom as pl\n\nN, M, K = pl.sizes('N M K')\n\n\n@pl.kernel\ndef f(" + ", ".join(arguments) + "):\n"
    )

    def expected(given: Arrays) -> Arrays:
        kind = np.float64 if total == "f32" else np.int64
        of = {name: np.asarray(array).astype(kind) for name, array in given.items()}
        left, right, old = (of[n.upper()].T if turned[n] else of[n.upper()] for n in "abc")
        made = _BEGINS[begin](old, of["y"], of["v"])
        summed = _TERMS[term](of["x"], left, right)
        made = _ENDS[end](made + summed if sign == "+" else made - summed, of["y"])
        return _results(after, made, of["D"], left, right, turned["c"])

    sizes = {name: rng.choice([rng.randint(1, 8), rng.randint(9, 40), rng.randint(30, 70)]) for name in "NMK"}
    return Kernel(head + body, element, sizes, expected)


def _body(order: str, c: str, begin: str, sign: str, term: str, end: str) -> str:
    extents = {"i": "N", "j": "M", "k": "K"}

    def around(dims: str, *lines: str) -> str:
        made = [f"{'    ' * (n + 1)}for {d} in range({extents[d]}):" for n, d in enumerate(dims)]
        return "\n".join([*made, *("    " * (len(dims) + 1) + line for line in lines)]) + "\n"

    first = around("ij", f"{c} = {begin}") if begin != c else ""
    made = first + around(order, f"{c} {sign}= {term}")
    return made + (
        around("ij", f"{c} = {end.replace('s', c, 1) if end != 'max(s, y)' else f'max({c}, y)'}") if end else ""
    )


def _after(what: str, c: str, element: str) -> str:
    pair = "    for i in range(N):\n        for j in range(M):\n"
    if what == "relu":
        return f"{pair}            D[i, j] = {c} + D[i, j]\n"
    if what == "again":
        return f"{pair}            {c} = {c} + D[i, j]\n{pair}            D[i, j] = {c}\n"
    if what == "transposed":
        return f"{pair}            D[N - 1 - i, j] = {c}\n"
    if what == "update":
        wide = "{}" if element == "f32" else f"pl.to_{_ELEMENT[element]}({{}})"
        del wide
        return f"{pair}            D[i, j] = D[i, j] * 2 - {c}\n"
    return ""


def _results(after: str, made: Array, old: Array, left: Array, right: Array, is_turned: bool) -> Arrays:
    del left, right
    results = {"C": made, "D": old}
    if after == "relu":
        results["D"] = made + old
    elif after == "again":
        results["C"] = results["D"] = made + old
    elif after == "transposed":
        results["D"] = made[::-1]
    elif after == "update":
        results["D"] = old * 2 - made
    if not after:
        del results["D"]
    results["C"] = results["C"].T if is_turned else results["C"]
    return results


def inputs(made: Kernel, seed: int) -> Arrays:
    """Of all arguments."""
    rng = np.random.default_rng(seed)
    n, m, k = (made.sizes[name] for name in "NMK")
    total = _DTYPE[_ELEMENT[made.element]]
    shapes: dict[str, tuple[int, ...]] = {
        "A": (n, k),
        "B": (k, m),
        "C": (n, m),
        "x": (),
        "y": (),
        "v": (m,),
        "D": (n, m),
    }
    for name in "ABC":
        declared = made.text.split(f"{name}: ")[1].split("]")[0].split("[")[1].split(", ")
        shapes[name] = tuple(made.sizes[size] for size in declared)
    kinds = {name: _DTYPE[made.element] if name in "AB" else total for name in shapes}
    return {name: _drawn(rng, kinds[name], shape) for name, shape in shapes.items()}


def _drawn(rng: np.random.Generator, kind: Any, shape: tuple[int, ...]) -> Array:
    if np.dtype(kind).kind == "f":
        return np.asarray(rng.standard_normal(shape), kind)
    low = 0 if kind is np.uint8 else -9
    return np.asarray(rng.integers(low, 10, shape), kind)
