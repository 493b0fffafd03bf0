# SPDX-License-Identifier: Apache-2.0
"""The files of `native/instantiate` call each other one way: internal.h lists the functions of each, bottom first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

LIBRARY = Path(__file__).parents[4] / "native" / "instantiate"


def layers(header: str) -> dict[str, list[str]]:
    """The functions that a header declares, by file, in its order."""
    parts = re.split(r"^// (\w+\.c)$", header, flags=re.M)[1:]
    return {
        name: re.findall(r"^\w[\w *]*?[ *](\w+)\([^)]*\);", declarations, flags=re.M)
        for name, declarations in zip(parts[::2], parts[1::2], strict=True)
    }


def upward(order: Mapping[str, list[str]], sources: Mapping[str, str]) -> list[str]:
    """Calls of functions of files that stand below the caller's in the header."""
    files = list(order)
    owner = {function: name for name, functions in order.items() for function in functions}
    calls = {
        (name, function)
        for name, source in sources.items()
        for function in re.findall(r"\b(\w+)\(", re.sub(r"//.*", "", source))
        if name in order and function in owner and files.index(owner[function]) > files.index(name)
    }
    return sorted(f"{name} calls {function} of {owner[function]}" for name, function in calls)


def test_calls_go_one_way() -> None:
    order = layers((LIBRARY / "internal.h").read_text(encoding="utf-8"))
    sources = {path.name: path.read_text(encoding="utf-8") for path in sorted(LIBRARY.glob("*.c"))}
    assert sources.keys() - order.keys() == {"instantiate.c", "plan.c", "message.c"}  # what a host calls
    sources["memory.c"] += (LIBRARY / "arithmetic.h").read_text(encoding="utf-8")
    declared = [(name, function) for name, functions in order.items() for function in functions]
    assert len(declared) > 100
    elsewhere = [
        f"{function} is not in {name}"
        for name, function in declared
        if not re.search(rf"^\w[\w *]*[ *]{function}\([^;{{]*\) {{", sources[name], re.M)
    ]
    assert elsewhere == []
    assert upward(order, sources) == []


def test_a_call_upwards_is_seen() -> None:
    order = layers("// a.c\nInt low(Int x);\n// b.c\nconst Set *high(Context *c,\n    Int x);\n")
    assert order == {"a.c": ["low"], "b.c": ["high"]}
    assert upward(order, {"a.c": "Int low(Int x) { return high(x); }  // low()\n", "b.c": "low(1)"}) == [
        "a.c calls high of b.c"
    ]
