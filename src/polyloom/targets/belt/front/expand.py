# SPDX-License-Identifier: Apache-2.0
"""What the belt has no operation or place for, in SSA form: switches, memcpy and its like, arrays of a call's own.

A function that does not call itself runs once at a time, so what it has on the stack elsewhere is a datum here. Bytes
are copied in loops, which pipeline as others do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import (
    EFFECTS,
    Access,
    Address,
    Block,
    Branch,
    Constant,
    Data,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Switch,
    Undef,
    Unreachable,
    Value,
    edges_of,
    integer,
    with_edges,
)
from polyloom.ir.ssa_types import I1, I8, I32, PTR, Type
from polyloom.transform.ssa.editing import names, reached, throughout, with_operands

Fresh = Callable[[str], str]


def own_arrays(function: Function) -> Function:
    """Allocas as data, of the whole program. Errors: PL1086 for one whose size is not constant."""
    data: list[Data] = list(function.data)
    taken = {datum.name for datum in data}
    members: list[Function] = []
    for member in function.program:
        found: dict[str, Operand] = {}
        for i in (i for block in member.blocks for i in block.instructions if i.operation == "alloca"):
            size = i.operands[0]
            if not isinstance(size, Constant):
                raise input_error(
                    "PL1086",
                    f"an array of {member.name} has no constant size{_at(i.place)}",
                    help="declare it with a constant size, or pass it as an argument",
                )
            name = _free(f"{member.name}.{i.results[0].name}", taken)
            data.append(Data(name, bytes(size.value), max(1, i.access.align if i.access else 1)))
            found[i.results[0].name] = Address(name)
        members.append(_without(member, found))
    return replace(members[0], data=tuple(data), others=tuple(members[1:]))


def _at(place: Place) -> str:
    words = place.words()
    return f", {words}" if words else ""


def _free(name: str, taken: set[str]) -> str:
    found, k = name, 0
    while found in taken:
        found, k = f"{name}.{k}", k + 1
    taken.add(found)
    return found


def _without(function: Function, known: dict[str, Operand]) -> Function:
    if not known:
        return function
    kept = tuple(
        with_operands(
            replace(b, instructions=tuple(i for i in b.instructions if i.operation != "alloca")),
            lambda o: known.get(o.name, o) if isinstance(o, Value) else o,
        )
        for b in function.blocks
    )
    return replace(function, blocks=kept)


@throughout
def switches(function: Function) -> Function:
    """Switches as branches, one per case; branches to what is never reached as jumps."""
    fresh = names(function)
    done = [made for block in function.blocks for made in _chain(block, fresh)]
    return _never(reached(replace(function, blocks=tuple(done))))


def _chain(block: Block, fresh: Fresh) -> list[Block]:
    """The block, and one for each further case."""
    end = block.terminator
    if not isinstance(end, Switch):
        return [block]
    if not end.cases:
        return [replace(block, terminator=Jump(end.default, end.place))]
    others = [fresh("case") for _ in end.cases[1:]]
    made: list[Block] = []
    for k, (case, edge) in enumerate(end.cases):
        equal = Value(fresh("is"), I1)
        test = Instruction("eq", (end.value, integer(end.value.type, case)), (equal,), place=end.place)
        orelse = Edge(others[k]) if k < len(others) else end.default
        base = replace(block) if k == 0 else Block(others[k - 1], (), (), end)
        branch = Branch(equal, edge, orelse, end.place)
        made.append(replace(base, instructions=(*base.instructions, test), terminator=branch))
    return made


def _never(function: Function) -> Function:
    """Where a block that is never reached is one way, the other is taken."""
    never = {b.name for b in function.blocks if isinstance(b.terminator, Unreachable) and not b.instructions}

    def end(block: Block) -> Block:
        if not isinstance(branch := block.terminator, Branch):
            return block
        ways = [edge for edge in edges_of(branch) if edge.block not in never]
        return replace(block, terminator=Jump(ways[0], branch.place)) if len(ways) == 1 else block

    return reached(replace(function, blocks=tuple(map(end, function.blocks))))


@throughout
def moves(function: Function) -> Function:
    """memcpy, memmove and memset as loops over bytes, or over words where all is a multiple of four."""
    fresh = names(function)
    done: list[Block] = []
    work = list(reversed(function.blocks))
    while work:
        block = work.pop()
        at = next((k for k, i in enumerate(block.instructions) if i.callee in EFFECTS), None)
        if at is None:
            done.append(block)
            continue
        call, after = block.instructions[at], fresh("moved")
        made = _moving(call, after, fresh)
        rest = Block(after, (), block.instructions[at + 1 :], block.terminator)
        head = replace(
            block, instructions=(*block.instructions[:at], *made[0].instructions), terminator=made[0].terminator
        )
        done += [head, *made[1:]]
        work.append(rest)
    return replace(function, blocks=tuple(done))


def _moving(call: Instruction, after: str, fresh: Fresh) -> list[Block]:
    """What stands for the call: the end of the block before it first, then loops."""
    target, source, size = call.operands
    body, place = fresh("move"), call.place
    counted = size.type
    some = Value(fresh("some"), I1)
    test = Instruction("ne", (size, integer(counted, 0)), (some,), place=place)
    forward = _loop(call, body, after, fresh, backward=False)
    if call.callee != "memmove":
        return [
            Block("", (), (test,), Branch(some, Edge(body, (integer(counted, 0),)), Edge(after), place)),
            forward,
        ]
    back, choose = fresh("back"), fresh("choose")
    below = Value(fresh("below"), I1)
    compare = Instruction("ule", (target, source), (below,), place=place)
    ways = Branch(below, Edge(body, (integer(counted, 0),)), Edge(back, (size,)), place)
    return [
        Block("", (), (test,), Branch(some, Edge(choose), Edge(after), place)),
        Block(choose, (), (compare,), ways),
        forward,
        _loop(call, back, after, fresh, backward=True),
    ]


def _loop(call: Instruction, name: str, after: str, fresh: Fresh, backward: bool) -> Block:
    target, source, size = call.operands
    counted, place = size.type, call.place
    made: list[Instruction] = []

    def make(operation: str, type: Type, *operands: Operand, access: Access | None = None) -> Value:
        result = Value(fresh("m"), type)
        made.append(Instruction(operation, operands, (result,), access=access, place=place))
        return result

    index = Value(fresh("k"), counted)
    step = _step(size, call.callee == "memset") if not backward else 1
    at: Operand = make("sub", counted, index, integer(counted, 1)) if backward else index
    value: Operand = source
    if call.callee != "memset":
        value = make("load", I32 if step == 4 else I8, make("offset", PTR, source, at), access=Access(1))
    to = make("offset", PTR, target, at)
    made.append(Instruction("store", (value, to), access=Access(1), place=place))
    following = at if backward else make("add", counted, index, integer(counted, step))
    ends = make("eq", I1, following, integer(counted, 0) if backward else size)
    return Block(name, (index,), tuple(made), Branch(ends, Edge(after), Edge(name, (following,)), place))


def _step(size: Operand, sets: bool) -> int:
    return 4 if not sets and isinstance(size, Constant) and size.value % 4 == 0 else 1


@throughout
def settled(function: Function) -> Function:
    """Values that are not set are 0, as anything else would do."""

    def operand(of: Operand) -> Operand:
        return Constant(of.type, 0) if isinstance(of, Undef) else of

    blocks = tuple(with_operands(block, operand) for block in function.blocks)
    return replace(
        function,
        blocks=tuple(replace(b, terminator=with_edges(b.terminator, operand, lambda edge: edge)) for b in blocks),
    )
