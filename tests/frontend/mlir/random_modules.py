# SPDX-License-Identifier: Apache-2.0
"""Random modules of MLIR: affine loops over memrefs with branches and values that turns pass on, and linalg on tensors
and memrefs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[Any], Any]
FLOAT = ("arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minnumf")
WHOLE = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxui", "divsi", "divui", "remsi", "shrui", "shli")


@dataclass
class Text:
    """Lines of a function (mutable); `count` numbers values."""

    draw: Draw
    kind: str
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def value(self, text: str, margin: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"{margin}{name} = {text}")
        return name

    def choose(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def constant(self, margin: str, zero: bool = True) -> str:
        numbers = (-3, -1, 1, 2, 5) if not zero else (-2, 0, 1, 3)
        number = self.choose(*numbers)
        return self.value(f"arith.constant {f'{number}.5' if self.kind[0] == 'f' else number} : {self.kind}", margin)

    def operation(self, a: str, b: str, margin: str) -> str:
        """An operation on two values; divisors are constants that are not 0."""
        if self.kind[0] == "f":
            name = self.choose(*FLOAT, "cmp")
            predicate, compare = self.choose("olt", "ule", "one"), "arith.cmpf"
        else:
            name = self.choose(*(f"arith.{n}" for n in WHOLE), "cmp")
            predicate, compare = self.choose("slt", "ult", "eq"), "arith.cmpi"
        if name == "cmp":
            test = self.value(f"{compare} {predicate}, {a}, {b} : {self.kind}", margin)
            return self.value(f"arith.select {test}, {a}, {b} : {self.kind}", margin)
        if name.rpartition(".")[2] in ("divsi", "divui", "remsi", "shrui", "shli"):
            b = self.value(f"arith.constant {self.choose(1, 2, 3)} : {self.kind}", margin)
        return self.value(f"{name} {a}, {b} : {self.kind}", margin)


@st.composite
def affine_modules(draw: Draw) -> str:
    """Loops over arrays %A and %B of N x N + 2 and 24 elements."""
    text = Text(draw, draw(st.sampled_from(("f32", "f64", "i32", "i16", "i8"))))
    big, row = f"memref<?x?x{text.kind}>", f"memref<24x{text.kind}>"

    def index(loops: list[str]) -> str:
        loop = text.choose(*loops)
        return text.choose(loop, f"{loop} + 1", f"{loop} + 2", "0")

    def load(loops: list[str], margin: str) -> str:
        if draw(st.booleans()):
            return text.value(f"affine.load %A[{text.choose(*loops)}, {index(loops)}] : {big}", margin)
        loop = text.choose(*loops)
        place = text.choose(f"{loop} mod 3", f"{loop} floordiv 2", f"{loop} * 2", loop)
        return text.value(f"affine.load %B[{place}] : {row}", margin)

    def body(loops: list[str], margin: str, depth: int) -> None:
        for _ in range(draw(st.integers(1, 2))):
            match text.choose("store", "store", "loop", "if", "sum") if depth else "store":
                case "loop":
                    name = f"%i{text.count}_{depth}"
                    text.count += 1
                    ends = text.choose(
                        "0 to %N", "1 to %N", f"0 to min affine_map<(d0)[s0] -> (d0 + 1, s0)>({loops[-1]})[%N]"
                    )
                    step = text.choose("", " step 2")
                    text.lines.append(f"{margin}affine.for {name} = {ends}{step} {{")
                    body([*loops, name], margin + "  ", depth - 1)
                    text.lines.append(f"{margin}}}")
                case "if":
                    other = loops[0]
                    condition = text.choose("d0 - d1 >= 0", "d0 - 2 >= 0, d1 >= 1", "d0 - d1 == 0")
                    text.lines.append(
                        f"{margin}affine.if affine_set<(d0, d1) : ({condition})>({loops[-1]}, {other}) {{"
                    )
                    body(loops, margin + "  ", 0)
                    if draw(st.booleans()):
                        text.lines.append(f"{margin}}} else {{")
                        body(loops, margin + "  ", 0)
                    text.lines.append(f"{margin}}}")
                case "sum":
                    first, name = text.constant(margin), f"%k{text.count}"
                    text.count += 1
                    head = f"affine.for {name} = 0 to 3 iter_args(%c{text.count} = {first}) -> ({text.kind}) {{"
                    carried, before = f"%c{text.count}", text.count
                    found = text.value(head, margin)
                    del before
                    value = text.operation(carried, load([*loops, name], margin + "  "), margin + "  ")
                    text.lines.append(f"{margin}  affine.yield {value} : {text.kind}")
                    text.lines.append(f"{margin}}}")
                    store(found, loops, margin)
                case _:
                    store(text.operation(load(loops, margin), load(loops, margin), margin), loops, margin)

    def store(value: str, loops: list[str], margin: str) -> None:
        if draw(st.booleans()):
            text.lines.append(f"{margin}affine.store {value}, %A[{text.choose(*loops)}, {index(loops)}] : {big}")
        else:
            text.lines.append(f"{margin}affine.store {value}, %B[{text.choose(*loops)}] : {row}")

    text.lines.append("  affine.for %i = 0 to %N {")
    body(["%i"], "    ", 2)
    text.lines.append("  }")
    shape = '{polyloom.shape = ["N + 2", "N + 2"]}'
    head = (
        f'func.func @f(%N: index, %A: {big} {shape}, %B: {row}) attributes {{polyloom.assume = ["12 - N", "N - 1"]}} {{'
    )
    return "\n".join([head, *text.lines, "  return", "}", ""])


@st.composite
def linalg_modules(draw: Draw) -> str:
    """Chains of structured operations on 4 x 6 tensors or memrefs."""
    text = Text(draw, draw(st.sampled_from(("f32", "i32"))))
    is_tensor = draw(st.booleans())
    array = f"{'tensor' if is_tensor else 'memref'}<4x6x{text.kind}>"
    row = f"{'tensor' if is_tensor else 'memref'}<6x{text.kind}>"
    values, rows = ["%a", "%b"], ["%r"]

    def target(kind: str) -> str:
        shape = kind.replace("memref<", "").replace("tensor<", "")
        return (
            text.value(f"tensor.empty() : {kind}" if is_tensor else f"memref.alloc() : {kind}", "  ") if shape else ""
        )

    def emit(line: str, out: str, kind: str, into: list[str]) -> None:
        if is_tensor:
            into.append(text.value(f"{line} -> {kind}", "  "))
        else:
            text.lines.append(f"  {line}")
            into.append(out)

    for _ in range(draw(st.integers(1, 4))):
        match text.choose("add", "generic", "reduce", "broadcast", "product"):
            case "add":
                out, (a, b) = target(array), (text.choose(*values), text.choose(*values))
                name = text.choose("add", "sub", "mul", "max", "min")
                emit(f"linalg.{name} ins({a}, {b} : {array}, {array}) outs({out} : {array})", out, array, values)
            case "generic":
                out, a, r = target(array), text.choose(*values), text.choose(*rows)
                maps = (
                    "affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>"
                )
                head = f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}'
                line = f"{head} ins({a}, {r} : {array}, {row}) outs({out} : {array}) {{"
                found = text.value(line, "  ") if is_tensor else text.lines.append(f"  {line}")
                text.lines.append(f"  ^bb0(%x: {text.kind}, %y: {text.kind}, %z: {text.kind}):")
                value = text.operation("%x", text.operation("%y", "%x", "    "), "    ")
                text.lines.append(f"    linalg.yield {value} : {text.kind}")
                text.lines.append(f"  }}{f' -> {array}' if is_tensor else ''}")
                values.append(found if found else out)
            case "reduce":
                zero, out, a = text.constant("  "), target(row), text.choose(*values)
                name = "arith.addf" if text.kind == "f32" else "arith.addi"
                filled = list[str]()
                emit(f"linalg.fill ins({zero} : {text.kind}) outs({out} : {row})", out, row, filled)
                line = f"linalg.reduce {{ {name} }} ins({a} : {array}) outs({filled[-1]} : {row}) dimensions = [0]"
                if is_tensor:
                    rows.append(text.value(line, "  "))
                else:
                    text.lines.append(f"  {line}")
                    rows.append(out)
            case "broadcast":
                out, r = target(array), text.choose(*rows)
                line = f"linalg.broadcast ins({r} : {row}) outs({out} : {array}) dimensions = [0]"
                if is_tensor:
                    values.append(text.value(line, "  "))
                else:
                    text.lines.append(f"  {line}")
                    values.append(out)
            case _:
                a, b = text.choose(*values), "%s"
                square = f"{'tensor' if is_tensor else 'memref'}<6x6x{text.kind}>"
                fresh = text.choose(*values) if is_tensor else target(array)
                out = fresh if is_tensor or a != "%a" else "%b"
                if out == a and not is_tensor:
                    continue
                if not is_tensor and out not in ("%a", "%b"):
                    zero = text.constant("  ")
                    text.lines.append(f"  linalg.fill ins({zero} : {text.kind}) outs({out} : {array})")
                emit(f"linalg.matmul ins({a}, {b} : {array}, {square}) outs({out} : {array})", out, array, values)
    square = f"{'tensor' if is_tensor else 'memref'}<6x6x{text.kind}>"
    head = f"func.func @f(%a: {array}, %b: {array}, %r: {row}, %s: {square})"
    if is_tensor:
        return "\n".join([f"{head} -> {array} {{", *text.lines, f"  return {values[-1]} : {array}", "}", ""])
    copy = f"  memref.copy {values[-1]}, %a : {array} to {array}" if values[-1] != "%a" else ""
    return "\n".join([f"{head} {{", *text.lines, copy, "  return", "}", ""])
