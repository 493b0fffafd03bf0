# SPDX-License-Identifier: Apache-2.0
"""Random functions of `ir.ssa` over all types: arithmetic, conversions, selects, memory, diamonds, loops and switches,
without faults.

Shifts are by less than the width, divisors are small and not 0. Whatever is computed is stored to an array, or
returned. `programs` are several functions that call each other and themselves while a number is positive, which each
call makes less.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from hypothesis import strategies as st

from polyloom.ir.ssa import (
    COMPARISONS,
    FLOAT_COMPARISONS,
    FLOATING,
    INDIRECT,
    MODIFICATIONS,
    NARROW,
    ORDERS,
    RESULT,
    Access,
    Address,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Return,
    Switch,
    Terminator,
    Unreachable,
    Value,
    float_constant,
    integer_constant,
)
from polyloom.ir.ssa_types import F32, F64, FLOATS, I1, I8, I16, I32, I64, INTEGERS, PTR, SIZE, WIDTH, Type

TYPES: Final[tuple[Type, ...]] = (*INTEGERS, *FLOATS)
SLOTS: Final = 16
"""The array has as many elements of 8 bytes."""
_ATOMIC: Final = (I8, I16, I32)
_UNARY: Final = ("abs", "ctpop", "ctlz", "cttz")
_BINARY: Final = ("smin", "smax", "umin", "umax", "uadd.sat", "usub.sat", "sadd.sat", "ssub.sat")


@dataclass(slots=True)
class Maker:
    """Mutable: the blocks so far, and the values of the current one by type."""

    draw: st.DrawFn
    floats: bool
    callees: tuple[Function, ...] = ()
    blocks: list[Block] = field(default_factory=list[Block])
    made: list[Instruction] = field(default_factory=list[Instruction])
    values: dict[Type, list[Value]] = field(default_factory=dict[Type, list[Value]])
    name: str = "entry"
    parameters: tuple[Value, ...] = ()
    count: int = 0

    def fresh(self, type: Type) -> Value:
        self.count += 1
        return Value(f"v{self.count}", type)

    def type(self) -> Type:
        return self.draw(st.sampled_from(TYPES if self.floats else INTEGERS))

    def add(self, value: Value) -> Value:
        self.values.setdefault(value.type, []).append(value)
        return value

    def emit(
        self, operation: str, type: Type, *operands: Operand, callee: str = "", access: Access | None = None
    ) -> Value:
        result = self.fresh(type)
        self.made.append(Instruction(operation, operands, (result,), (), access, callee))
        return self.add(result)

    def operand(self, type: Type) -> Operand:
        known = self.values.get(type, [])
        if known and self.draw(st.integers(0, 4)):
            return self.draw(st.sampled_from(known))
        if type in FLOATS:
            return float_constant(type, self.draw(st.sampled_from((0.0, -0.0, 1.5, -2.25, 1024.0))))
        edges = st.sampled_from((0, 1, -1, 2047, -2048, 2048, 1 << WIDTH[type] - 1, 255))
        return integer_constant(type, self.draw(edges | st.integers(-(2**63), 2**63)))

    def end(self, terminator: Terminator) -> None:
        self.blocks.append(Block(self.name, self.parameters, tuple(self.made), terminator))
        self.made = []

    def begin(self, name: str, values: dict[Type, list[Value]], parameters: tuple[Value, ...] = ()) -> None:
        self.name, self.parameters = name, parameters
        self.values = {type: list(known) for type, known in values.items()}
        for value in parameters:
            self.add(value)


def instruction(maker: Maker) -> None:
    """One operation."""
    draw = maker.draw
    if maker.callees and draw(st.integers(0, 5)) == 0:
        _function_call(maker)
        return
    kind = draw(
        st.sampled_from(
            (
                "arithmetic",
                "arithmetic",
                "compare",
                "select",
                "select",
                "cast",
                "call",
                "memory",
                *(["float", "fcompare"] * maker.floats),
            )
        )
    )
    type = draw(st.sampled_from(INTEGERS))
    match kind:
        case "arithmetic":
            _arithmetic(maker, type)
        case "compare":
            maker.emit(draw(st.sampled_from(COMPARISONS)), I1, maker.operand(type), maker.operand(type))
        case "select":
            chosen = maker.type()
            maker.emit("select", chosen, maker.operand(I1), maker.operand(chosen), maker.operand(chosen))
        case "cast":
            _cast(maker, type)
        case "call":
            _call(maker, type)
        case "memory":
            _memory(maker)
        case "float":
            real = draw(st.sampled_from(FLOATS))
            maker.emit(draw(st.sampled_from(FLOATING)), real, maker.operand(real), maker.operand(real))
        case _:
            real = draw(st.sampled_from(FLOATS))
            maker.emit(draw(st.sampled_from(FLOAT_COMPARISONS)), I1, maker.operand(real), maker.operand(real))


def _arithmetic(maker: Maker, type: Type) -> None:
    operation = maker.draw(
        st.sampled_from(
            ("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "udiv", "urem", "sdiv", "srem")
        )
    )
    a, b = maker.operand(type), maker.operand(type)
    if operation in ("shl", "lshr", "ashr"):
        b = maker.emit("and", type, b, integer_constant(type, WIDTH[type] - 1))
    elif operation in ("udiv", "urem"):
        b = maker.emit("or", type, b, integer_constant(type, 1))
    elif operation in ("sdiv", "srem"):
        if type == I1:
            return
        b = maker.emit("or", type, maker.emit("and", type, b, integer_constant(type, 0x7F)), integer_constant(type, 1))
    maker.emit(operation, type, a, b)


def _cast(maker: Maker, type: Type) -> None:
    other = maker.draw(st.sampled_from(INTEGERS))
    real: Type = maker.draw(st.sampled_from(FLOATS))
    if maker.floats and maker.draw(st.booleans()):
        operation = maker.draw(st.sampled_from(("sitofp", "uitofp", "fpext", "fptrunc", "bitcast", "fneg")))
        match operation:
            case "fpext":
                maker.emit("fpext", F64, maker.operand(F32))
            case "fptrunc":
                maker.emit("fptrunc", F32, maker.operand(F64))
            case "bitcast":
                maker.emit("bitcast", I32 if real == F32 else I64, maker.emit("sitofp", real, maker.operand(I16)))
            case "fneg":
                maker.emit("fneg", real, maker.operand(real))
            case _:
                maker.emit(operation, real, maker.operand(type))
    elif WIDTH[other] < WIDTH[type]:
        maker.emit("trunc", other, maker.operand(type))
    elif WIDTH[other] > WIDTH[type]:
        maker.emit(maker.draw(st.sampled_from(("zext", "sext"))), other, maker.operand(type))


def _call(maker: Maker, type: Type) -> None:
    callee = maker.draw(
        st.sampled_from(
            (*_UNARY, *_BINARY, "bswap", "fshl", "fshr", *(["fabs", "copysign", "minnum", "maxnum"] * maker.floats))
        )
    )
    real = maker.draw(st.sampled_from(FLOATS))
    if callee in ("fabs", "copysign", "minnum", "maxnum"):
        maker.emit("call", real, *(maker.operand(real) for _ in range(1 + (callee != "fabs"))), callee=callee)
    elif callee == "bswap" and WIDTH[type] < 16:
        return
    else:
        number = 1 if callee in (*_UNARY, "bswap") else 3 if callee.startswith("fsh") else 2
        operands = [maker.operand(type) for _ in range(number)]
        if number == 3 and maker.draw(st.booleans()):
            operands[1] = operands[0]  # a rotation
        maker.emit("call", type, *operands, callee=callee)


def _memory(maker: Maker) -> None:
    """Stores a value to a slot of the array, or loads an integer from one; at times byte by byte."""
    type = maker.type()
    place = maker.emit(
        "offset", PTR, Value("array", PTR), integer_constant(I64, 8 * maker.draw(st.integers(0, SLOTS - 1)))
    )
    access = Access(maker.draw(st.sampled_from((1, SIZE[type]))))
    # Programs with floats have atomics, of up to 32 bits; single functions run on machines without them, too.
    if maker.floats and maker.callees and type in _ATOMIC and maker.draw(st.booleans()):
        _atomic(maker, type, place)
    elif maker.draw(st.booleans()):
        stored = maker.operand(type)
        if type in FLOATS:  # the bits of a NaN are nobody's promise
            stored = maker.emit(
                "select", type, maker.emit("ford", I1, stored, stored), stored, float_constant(type, 0.0)
            )
        maker.made.append(Instruction("store", (stored, place), access=access))
    elif type not in FLOATS and type != I1:
        maker.emit("load", type, place, access=access)


def _atomic(maker: Maker, type: Type, place: Value) -> None:
    access = Access(SIZE[type], order=maker.draw(st.sampled_from(ORDERS["rmw"])))
    if maker.draw(st.integers(0, 3)) == 0:
        maker.emit("cas", type, place, maker.operand(type), maker.operand(type), access=access)
    else:
        name = maker.draw(st.sampled_from([name for name, types in MODIFICATIONS.items() if type in types]))
        maker.emit("rmw", type, place, maker.operand(type), callee=name, access=access)


def _function_call(maker: Maker) -> None:
    """Passes the array, what is left, and whatever there is; by the function's name, or through a pointer."""
    callee = maker.draw(st.sampled_from(maker.callees))
    scalars = [maker.operand(p.type) for p in callee.parameters[2:]]
    operands = (Value("array", PTR), Value("less", I32), *scalars)
    result = maker.fresh(callee.result) if callee.result is not None else None
    name = f"@{callee.name}"
    if maker.draw(st.booleans()):
        address = Address(callee.name)
        operands = (maker.emit("select", PTR, maker.operand(I1), address, address), *operands)
        name = INDIRECT
    maker.made.append(Instruction("call", operands, (result,) if result else (), callee=name))
    if result is not None:
        maker.add(result)


@st.composite
def functions(draw: st.DrawFn, floats: bool = True) -> Function:
    """A function of %array, of `SLOTS` times 8 bytes, and of up to a dozen scalars."""
    maker = Maker(draw, floats)
    scalars = tuple(maker.add(maker.fresh(maker.type())) for _ in range(draw(st.integers(0, 12))))
    maker.parameters = (Value("array", PTR), *scalars)
    _regions(maker)
    type = maker.type()
    maker.end(Return(maker.operand(type)))
    return Function("f", type, tuple(maker.blocks))


def _regions(maker: Maker) -> None:
    for region in range(maker.draw(st.integers(1, 3))):
        for _ in range(maker.draw(st.integers(1, 8))):
            instruction(maker)
        _region(maker, region)


@st.composite
def programs(draw: st.DrawFn, floats: bool = True) -> Function:
    """A function of %array, of %left, which bounds how deep calls go, and of up to a dozen scalars, with up to two
    others."""
    prototypes = tuple(_prototype(draw, name, floats) for name in ("f", "g", "h")[: draw(st.integers(1, 3))])
    first, *others = (_body(draw, prototype, prototypes, floats) for prototype in prototypes)
    return replace(first, others=tuple(others))


def _prototype(draw: st.DrawFn, name: str, floats: bool) -> Function:
    types = st.sampled_from(TYPES if floats else INTEGERS)
    scalars = draw(st.lists(types, max_size=14))
    result = draw(st.none() | types)
    parameters = (Value("array", PTR), Value("left", I32), *(Value(f"p{k}", type) for k, type in enumerate(scalars)))
    narrow = [*(k for k, p in enumerate(parameters) if p.type in NARROW), *([RESULT] if result in NARROW else [])]
    unsigned = draw(st.sets(st.sampled_from(narrow))) if narrow else set[int]()
    return Function(name, result, (Block("entry", parameters, (), Unreachable()),), (), frozenset(unsigned))


def _body(draw: st.DrawFn, prototype: Function, callees: tuple[Function, ...], floats: bool) -> Function:
    maker = Maker(draw, floats, callees, parameters=prototype.parameters)
    for value in prototype.parameters[2:]:
        maker.add(value)
    few = maker.emit("call", I32, Value("left", I32), integer_constant(I32, 2), callee="smin")
    maker.made.append(Instruction("sub", (few, integer_constant(I32, 1)), (maker.add(Value("less", I32)),)))
    more = maker.emit("sgt", I1, few, integer_constant(I32, 0))
    maker.end(Branch(more, Edge("more"), Edge("enough")))
    before = maker.values
    for name, works in (("enough", False), ("more", True)):
        maker.begin(name, before)
        if works:
            _regions(maker)
        maker.end(Return(maker.operand(prototype.result) if prototype.result is not None else None))
    return replace(prototype, blocks=tuple(maker.blocks))


def _region(maker: Maker, number: int) -> None:
    """A diamond with two arguments that it exchanges, a counted loop, a switch, or nothing."""
    draw, before = maker.draw, maker.values
    kind = draw(st.sampled_from(("nothing", "diamond", "loop", "switch")))
    types: list[Type] = [maker.type(), maker.type()]
    joined = tuple(maker.fresh(type) for type in types)
    names = [f"{kind}{number}.{part}" for part in "abcd"]
    match kind:
        case "diamond":
            arguments = [tuple(maker.operand(type) for type in types) for _ in range(2)]
            maker.end(Branch(maker.operand(I1), Edge(names[0]), Edge(names[1], arguments[0])))
            maker.begin(names[0], before)
            instruction(maker)
            maker.end(Jump(Edge(names[1], tuple(maker.operand(type) for type in types))))
            maker.begin(names[1], before, joined)
        case "switch":
            cases = tuple((k * 3 - 4, Edge(names[k % 3])) for k in range(draw(st.integers(1, 6))))
            maker.end(Switch(maker.operand(I32), Edge(names[0]), cases))
            for name in names[:3]:
                maker.begin(name, before)
                instruction(maker)
                maker.end(Jump(Edge(names[3], tuple(maker.operand(type) for type in types))))
            maker.begin(names[3], before, joined)
        case "loop":
            _loop(maker, joined, names, types)
        case _:
            pass


def _loop(maker: Maker, joined: tuple[Value, ...], names: list[str], types: list[Type]) -> None:
    """Carries two values, which it exchanges where their types agree, and a counter."""
    before, counter = maker.values, maker.fresh(I32)
    maker.end(Jump(Edge(names[0], (Constant(I32, 3), *(maker.operand(type) for type in types)))))
    maker.begin(names[0], before, (counter, *joined))
    for _ in range(maker.draw(st.integers(0, 5))):
        instruction(maker)
    less = maker.emit("sub", I32, counter, integer_constant(I32, 1))
    carried = joined[::-1] if types[0] == types[1] else tuple(maker.operand(type) for type in types)
    more = maker.emit("sgt", I1, less, integer_constant(I32, 0))
    inner = maker.values
    maker.end(Branch(more, Edge(names[0], (less, *carried)), Edge(names[1])))
    maker.begin(names[1], inner)
