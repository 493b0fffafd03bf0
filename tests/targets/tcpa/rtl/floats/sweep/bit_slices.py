# SPDX-License-Identifier: Apache-2.0
"""Bit slicing (Biham, A fast new DES implementation in software, 1997): a netlist of gates as C++, in which every wire
is a vector of one bit of many words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

EXPRESSIONS: Final = {
    "$_NOT_": "~{A}",
    "$_AND_": "{A} & {B}",
    "$_OR_": "{A} | {B}",
    "$_XOR_": "{A} ^ {B}",
    "$_ANDNOT_": "{A} & ~{B}",
    "$_MUX_": "{A} ^ ({S} & ({A} ^ {B}))",
}
"""By the names of Yosys' internal cells (Yosys manual, "Gates")."""
GATES: Final = "AND,OR,XOR,ANDNOT"
"""Those that `abc` makes: each is one instruction."""
_CONSTANTS: Final = {"0": "zero", "1": "one"}
"""A bit that is `x` has none: a circuit without registers that leaves one undefined is wrong."""
Bit = int | str
"""Number of a wire, or a constant (Yosys manual, `write_json`)."""


def circuit_function(name: str, module: Mapping[str, Any]) -> str:
    """Function of slices for a combinational module that `write_json` wrote, with the ports a, b, c and result. Errors:
    KeyError for a cell that is no gate, and for an undefined bit."""
    names: dict[Bit, str] = {**_CONSTANTS}
    for port in ("a", "b", "c"):
        names |= {bit: f"{port}[{n}]" for n, bit in enumerate(module["ports"][port]["bits"])}
    drivers = {cell["connections"]["Y"][0]: cell for cell in module["cells"].values()}
    result: Sequence[Bit] = module["ports"]["result"]["bits"]
    lines = list[str]()
    for bit in evaluation_order(drivers, result, set(names)):
        cell = drivers[bit]
        inputs = {pin: names[bits[0]] for pin, bits in cell["connections"].items() if pin != "Y"}
        names[bit] = f"n{bit}"
        lines.append(f"const Slice n{bit} = {EXPRESSIONS[cell['type']].format(**inputs)};")
    lines += [f"result[{n}] = {names[bit]};" for n, bit in enumerate(result)]
    head = f"static void {name}(const Slice* a, const Slice* b, const Slice* c, Slice* result) {{"
    return "\n    ".join((head, "const Slice zero = {}, one = ~zero;", *lines)) + "\n}\n"


def evaluation_order(drivers: Mapping[Bit, Any], roots: Sequence[Bit], known: set[Bit]) -> Iterator[Bit]:
    """Postorder of a depth-first search from the outputs, a topological order that keeps few wires alive. The search
    has a stack of its own: carries make paths of hundreds of gates."""
    done = set(known)
    stack: list[tuple[Bit, bool]] = [(bit, False) for bit in reversed(roots)]
    while stack:
        bit, is_expanded = stack.pop()
        if bit in done:
            continue
        if is_expanded:
            done.add(bit)
            yield bit
            continue
        stack.append((bit, True))
        inputs = (bits[0] for pin, bits in drivers[bit]["connections"].items() if pin != "Y")
        stack += [(source, False) for source in inputs if source not in done]
