# SPDX-License-Identifier: Apache-2.0
"""Random programs over all element types, and what they compute, one iteration after another on Python's integers and
NumPy's scalars: a twin that shares nothing with the interpreter but the text."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from polyloom.ir.numbers import NUMPY, WIDTH, type_limits
from polyloom.ir.operations import BY_NAME, ELEMENT_TYPES, FLOATS, OPERATIONS, STORED, ElementType

Number = Any
"""A Python integer, or a NumPy float of its width."""
_NAMES = tuple(o.name for o in OPERATIONS if o.gives not in STORED and o.name not in ("div", "rem", "floordiv", "mod"))
_CARRIED = ("add", "sub", "mul", "min", "max", "and", "or", "xor")


@dataclass(frozen=True, slots=True)
class Step:
    """`name[i] = operation(operands)`; the first one of a carried value is that of the iteration before, and in
    iteration 0 the value is the second operand."""

    name: str
    operation: str
    dtype: ElementType
    operands: tuple[str, ...]
    carried: bool = False

    @property
    def result(self) -> ElementType:
        return BY_NAME[self.operation].result(self.dtype)


def program(seed: int, count: int) -> tuple[str, tuple[Step, ...]]:
    """Equations over one input `x_TYPE` of every type, and their text; every value of the last steps is an output."""
    rng = random.Random(seed)
    known: dict[str, ElementType] = {f"x_{t}": t for t in ELEMENT_TYPES}
    steps: list[Step] = []
    while len(steps) < count:
        step = _step(rng, known, f"v{len(steps)}")
        if step is not None:
            steps.append(step)
            known[step.name] = step.result
    return _text(steps), tuple(steps)


def _step(rng: random.Random, known: dict[str, ElementType], name: str) -> Step | None:
    operation = BY_NAME[rng.choice(_NAMES)]
    dtype = rng.choice(operation.types)
    operands = tuple(_operand(rng, known, dtype) for _ in range(operation.arity))
    if operation.name == "select":
        operands = (_operand(rng, known, "i32"), *operands[1:])
    return Step(name, operation.name, dtype, operands, operation.name in _CARRIED and rng.random() < 0.4)


def _operand(rng: random.Random, known: dict[str, ElementType], dtype: ElementType) -> str:
    """The latest values of the type come most often."""
    fitting = [name for name, t in known.items() if t == dtype]
    return fitting[max(rng.randrange(len(fitting)), rng.randrange(len(fitting)))]


def _text(steps: list[Step]) -> str:
    used = {operand for step in steps for operand in step.operands}
    given = [t for t in ELEMENT_TYPES if f"x_{t}" in used]
    shown = [step for step in steps if step.name not in used]
    lines = [
        "parameter N >= 1",
        f"input {', '.join(f'x_{t}[N]: {t}' for t in given)}",
        f"output {', '.join(f'y_{s.name}[N]: {s.result}' for s in shown)}",
        "for 0 <= i < N do",
    ]
    for step in steps:
        operands = [f"{operand}[i]" for operand in step.operands]
        if step.carried:
            lines.append(f"  {step.name}[i] = {step.operands[1]}[i] if i = 0")
            lines.append(f"  {step.name}[i] = {_call(step.operation, [f'{step.name}[i-1]', operands[1]])} if i >= 1")
        else:
            lines.append(f"  {step.name}[i] = {_call(step.operation, operands)}")
    lines += [f"  y_{step.name}[i] = {step.name}[i]" for step in shown]
    return "\n".join([*lines, ""])


def _call(operation: str, operands: list[str]) -> str:
    """Words between operands cannot be called."""
    if operation in ("and", "or", "xor", "shl", "shr"):
        return f" {operation} ".join(operands)
    return f"{operation}({', '.join(operands)})"


def twin(steps: tuple[Step, ...], inputs: dict[str, Any], count: int) -> dict[str, list[Number]]:
    """By name of a value what it is in every iteration."""
    found: dict[str, list[Number]] = {name: [_number(v) for v in array] for name, array in inputs.items()}
    for step in steps:
        values: list[Number] = []
        for i in range(count):
            operands = [found[name][i] for name in step.operands]
            if step.carried:
                operands[0] = values[i - 1] if i else None
            values.append(operands[1] if step.carried and i == 0 else _applied(step, operands))
        found[step.name] = values
    return found


def _number(value: Any) -> Number:
    return int(value) if np.asarray(value).dtype.kind in "biu" else value


def _applied(step: Step, operands: list[Number]) -> Number:
    if step.operation.startswith("to_"):
        return _converted(operands[0], step.result)
    if step.operation in _SPECIAL:
        return _SPECIAL[step.operation](operands[0])
    if step.operation == "select":
        return operands[1] if operands[0] else operands[2]
    if step.dtype in FLOATS:
        return _of_floats(step, operands)
    if step.operation in ("shl", "shr"):
        operands[1] %= WIDTH[step.dtype]
    return _wrapped(int(_computed(_INTEGERS, step.operation, operands)), step.result)


def _computed(table: dict[str, Callable[[Number, Number], Any]], operation: str, operands: list[Number]) -> Any:
    if operation == "madd":
        return operands[0] * operands[1] + operands[2]
    if len(operands) == 1:
        return _UNARY[operation](operands[0])
    return table[operation](operands[0], operands[1])


def _wrapped(value: int, dtype: ElementType) -> int:
    least, most = type_limits(dtype) or (0, 0)
    return (value - least) % (most - least + 1) + least


def _converted(value: Number, dtype: ElementType) -> Number:
    if dtype == "bool":
        return int(value != 0)
    if dtype in FLOATS:
        return NUMPY[dtype].type(value)
    if isinstance(value, int):
        return _wrapped(value, dtype)
    return 0 if math.isnan(value) else _saturated(float(value), math.trunc, dtype)


def _saturated(value: float, to_integer: Callable[[float], int], dtype: ElementType) -> int:
    least, most = type_limits(dtype) or (0, 0)
    if math.isnan(value):
        return most
    return (most if value > 0 else least) if math.isinf(value) else max(least, min(most, to_integer(value)))


def _of_floats(step: Step, operands: list[Number]) -> Number:
    kind = NUMPY[step.dtype].type
    if step.operation == "madd" and all(np.isfinite(v) for v in operands):
        a, b, c = (Fraction(float(v)) for v in operands)
        if a * b + c:
            return _rounded(a * b + c, kind)
    found = _computed(_FLOATS, step.operation, operands)
    return int(found) if BY_NAME[step.operation].compares else kind(found)


def _rounded(exact: Fraction, kind: Any) -> Number:
    """To nearest, ties to even, by trying the neighbours of a guess."""
    most = Fraction(float(np.finfo(kind).max))
    if abs(exact) >= most + (most - Fraction(float(np.nextafter(np.finfo(kind).max, kind(0))))) / 2:
        return kind(math.inf if exact > 0 else -math.inf)
    guess = kind(float(max(-most, min(most, exact))))
    near = [v for v in (np.nextafter(guess, kind(-np.inf)), guess, np.nextafter(guess, kind(np.inf))) if np.isfinite(v)]
    whole = np.int32 if kind is np.float32 else np.int64
    return min(near, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(whole)) & 1))


def _number_first(better: Callable[[Number, Number], bool]) -> Callable[[Number, Number], Number]:
    return lambda a, b: b if a != a or better(b, a) else a


_RELATIONS: dict[str, Callable[[Number, Number], Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_UNARY: dict[str, Callable[[Number], Any]] = {"move": lambda a: a, "neg": lambda a: -a, "abs": abs, "sqrt": np.sqrt}
_BOTH: dict[str, Callable[[Number, Number], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    **_RELATIONS,
}
_FLOATS: dict[str, Callable[[Number, Number], Any]] = {
    "min": _number_first(lambda b, a: b < a),
    "max": _number_first(lambda b, a: b > a),
    **_BOTH,
}
_INTEGERS: dict[str, Callable[[Number, Number], Any]] = {
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    **_BOTH,
}
_SPECIAL: dict[str, Callable[[Number], Number]] = {
    "round_i32": lambda a: _saturated(float(a), round, "i32"),
    "sat8": lambda a: max(-128, min(127, a)),
    "satu8": lambda a: max(0, min(255, a)),
    "bits_i32": lambda a: int(np.float32(a).view(np.int32)),
    "bits_f32": lambda a: np.int32(a).view(np.float32),
}
