# SPDX-License-Identifier: Apache-2.0
"""Verifier of genasm modules, as a list of rules: names, operations and their types, edges, order of memory, and that
definitions dominate uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from polyloom.analysis.dominators import dominators
from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.passes import Form
from polyloom.targets.belt.isa import MANY, OPS
from polyloom.targets.belt.source.genasm import LOADS, print_genasm, print_op, print_operand
from polyloom.targets.belt.source.ir import (
    Address,
    Block,
    Branch,
    Edge,
    Function,
    Jump,
    Loop,
    Module,
    Op,
    Operand,
    Return,
    Value,
)
from polyloom.targets.belt.value_types import Type

LEAVES: Final = ("leave", "leavetr", "leavefl")
ACCESSES: Final = (*LOADS, "store", "call", "calltr")
_BELOW: Final = ("recur", "spill", "spillx", "fill", "fillx", "scratchf", "conform", "br", "brtr", "brfl", "inner")
"""Operations of bundles, which this form does not have."""
_SCALES: Final = (1, 2, 4, 8)
Rule = Callable[[Module, Function], Iterator[str]]


def verify(module: Module) -> Module:
    """Verified module: the module itself; raises PL1081 with every violation of the first rule that a function
    violates."""
    for function in module.functions:
        for rule in RULES:
            # One rule at a time: a name that is defined twice would make the rules behind it report nonsense.
            if found := tuple(rule(module, function)):
                raise PolyloomError(*(Diagnostic("PL1081", f"@{function.name}: {message}") for message in found))
    return module


GENASM: Final = Form(print_genasm, verify)
"""What stands between the passes over modules."""


def flow_edges(block: Block | Loop) -> tuple[Edge, ...]:
    """Control-flow edges: where control may go on from a block, or leave a loop to."""
    left = tuple(op.edge for op in block.ops if op.edge is not None)
    if isinstance(block, Loop):
        return left
    match block.terminator:
        case Jump(edge):
            return (edge,)
        case Branch(_, then, orelse):
            return then, orelse
        case Return():
            return ()


def end_operands(block: Block | Loop) -> tuple[Operand, ...]:
    """Operands used at the end of a block, arguments of its edges left out."""
    if isinstance(block, Loop):
        return block.next
    match block.terminator:
        case Branch(condition):
            return (condition,)
        case Return(values):
            return values
        case _:
            return ()


def used_operands(op: Op) -> tuple[Operand, ...]:
    """Operands of an operation, and the results of a leave."""
    return (*op.operands, *(op.edge.arguments if op.edge is not None else ()))


def _names(module: Module, function: Function) -> Iterator[str]:
    """Functions, data, blocks and values have one definition each."""
    groups = {
        "the function @": [f.name for f in module.functions],
        "the datum @": [d.name for d in module.data],
        "the block ": [b.name for b in function.blocks],
        "%": [v.name for b in function.blocks for v in defined_values(b)],
    }
    for what, names in groups.items():
        yield from (f"{what}{name} is defined {n} times" for name, n in Counter(names).items() if n > 1)


def defined_values(block: Block | Loop) -> Iterator[Value]:
    """Values that a block defines: its parameters, then the results of its operations."""
    yield from block.parameters
    for op in block.ops:
        yield from op.results


def _uses(module: Module, function: Function) -> Iterator[str]:
    """Rule: what is used is defined, with the same type; addresses are those of data."""
    values = {value for block in function.blocks for value in defined_values(block)}
    data = {datum.name for datum in module.data}
    for block in function.blocks:
        given = [o for op in block.ops for o in used_operands(op)]
        for operand in (*given, *end_operands(block), *(a for edge in flow_edges(block) for a in edge.arguments)):
            if isinstance(operand, Value) and operand not in values:
                yield f"block {block.name}: %{operand.name} of type {operand.type} is not defined"
            if isinstance(operand, Address) and operand.name not in data:
                yield f"block {block.name}: there is no datum @{operand.name}"


def _edges(module: Module, function: Function) -> Iterator[str]:
    """Rule: edges go to blocks other than the first, with arguments of the parameters' types; loops are left."""
    del module
    blocks = {block.name: block for block in function.blocks}
    if isinstance(function.blocks[0], Loop):
        yield f"the first block {function.blocks[0].name} is a loop"
    for block in function.blocks:
        for edge in flow_edges(block):
            target = blocks.get(edge.target)
            # The first block's parameters are the function's arguments, which no edge can give again.
            if target is None or target is function.blocks[0] or (target is block and isinstance(block, Loop)):
                yield f"block {block.name}: an edge goes to {edge.target}"
            elif _types(edge.arguments) != _types(target.parameters):
                yield (
                    f"block {block.name}: the arguments of {edge.target} are ({_text(edge.arguments)}), its "
                    f"parameters ({_text(target.parameters)})"
                )
        if isinstance(block, Loop) and _types(block.next) != _types(block.parameters):
            yield f"loop {block.name}: next is ({_text(block.next)}), the parameters ({_text(block.parameters)})"
        values = block.terminator.values if isinstance(block, Block) and isinstance(block.terminator, Return) else None
        if values is not None and _types(values) != function.results:
            yield f"block {block.name}: returns ({_text(values)})"


def _operations(module: Module, function: Function) -> Iterator[str]:
    """Rule: operations have operands and results of their numbers and types; leaves stand in loops."""
    # Calls are checked against their callees; every other operation against its row in `isa`.
    known = {f.name: f for f in module.functions}
    for block in function.blocks:
        for op in block.ops:
            wrong = (
                _call_error(op, known)
                if op.name in ("call", "calltr")
                else _operation_error(op, isinstance(block, Loop))
            )
            if wrong:
                yield f"block {block.name}: `{print_op(op)}`: {wrong}"


def _call_error(op: Op, known: dict[str, Function]) -> str:
    """Violation of a call: the callee's parameters and results, or ""."""
    given = op.operands[op.name == "calltr" :]
    if op.callee not in known:
        return f"there is no function @{op.callee}"
    callee = known[op.callee]
    if _types(given) != _types(callee.blocks[0].parameters) or _types(op.results) != callee.results:
        return f"@{op.callee} has other parameters or results"
    return ""


def _operation_error(op: Op, in_loop: bool) -> str:
    """Violation of an operation's row in `isa`, or ""."""
    row = OPS.get(op.name)
    if row is None or op.name in _BELOW:
        return "no operation of this form"
    if op.name in LEAVES:
        if not in_loop or op.edge is None:
            return "leave stands in loops, with an edge"
        return "" if len(op.operands) == row.operands[0] else "a predicate is too much or missing"
    least, most = row.operands
    # In a word a con has its literal in a field; in this form it is an operand.
    if op.name == "con":
        least = most = 1
    if not least <= len(op.operands) <= (len(op.operands) if most == MANY else most):
        return f"{len(op.operands)} operands"
    if len(op.results) != row.results:
        return f"{len(op.results)} results"
    if op.name in LOADS or op.name == "store":
        return _access_error(op)
    return _type_error(op, row.width)


def _access_error(op: Op) -> str:
    """Violation of an access: width, offset of 12 bits, scale, addresses of w; or ""."""
    address = op.operands[:-1] if op.name == "store" else op.operands
    if op.width is None:
        return "no width"
    if not -2048 <= op.offset < 2048:
        return "the offset is not in -2048 ... 2047"
    if op.scale not in (_SCALES if len(address) > 1 else (0,)):
        return f"the scale {op.scale}"
    return "" if all(o.type.width == "w" for o in address) else "an address of other than w"


def _type_error(op: Op, width: str) -> str:
    """Violation of types: operands of one type, but for conditions, amounts and lanes; the result as the table
    tells."""
    given, result = [o.type for o in op.operands], op.results[0].type
    if op.name == "pick":
        if given[0].width != "b" or given[0].lanes not in (1, result.lanes):
            return "the condition is no b, or of other lanes"
        return "" if all(t == result for t in given[1:]) else "arms of other types"
    # Operations between lanes change their number: the table's rule of equal types does not hold.
    if op.name in ("splat", "iota", "shuffle", "extract", "inject", "remaining", "any", "all", "smearx", "smeari"):
        return ""
    if op.name in ("widensv", "widenuv", "narrowv"):
        return ""
    first = Type(given[0].width, max(t.lanes for t in given))
    if any(t.width != first.width or t.lanes not in (1, first.lanes) for t in given):
        return "operands of several types"
    if width == "b":
        return "" if result == Type("b", first.lanes) else "a comparison gives b"
    if width == "=":
        return "" if op.width == result.width and result.lanes == first.lanes else "the result has another width"
    if width == "2":
        return "" if result.lanes == first.lanes else "the result has other lanes"
    return "" if result == first else "the result has another type"


def _order(module: Module, function: Function) -> Iterator[str]:
    """Rule: order is that of loads, stores and calls; in one iteration forward."""
    del module
    for block in function.blocks:
        for order in block.order:
            ends_ = (order.source, order.sink)
            if not all(0 <= k < len(block.ops) and block.ops[k].name in ACCESSES for k in ends_):
                yield f"block {block.name}: order {order.source} -> {order.sink} is not of accesses"
            elif order.distance < 0 or (order.distance == 0 and order.source >= order.sink):
                yield f"block {block.name}: order {order.source} -> {order.sink} goes back"


def _dominance(module: Module, function: Function) -> Iterator[str]:
    """Rule: definitions dominate uses, by the dominator tree (Cooper, Harvey and Kennedy 2001)."""
    del module
    position = {block.name: k for k, block in enumerate(function.blocks)}
    pairs = [(k, position[e.target]) for k, block in enumerate(function.blocks) for e in flow_edges(block)]
    above: list[int] = dominators(len(function.blocks), np.array(pairs, np.int32).reshape(-1, 2)).tolist()
    home = {value.name: k for k, block in enumerate(function.blocks) for value in defined_values(block)}
    for k, block in enumerate(function.blocks):
        # An unreachable block is dominated by everything; it has no place in the tree.
        if k and above[k] < 0:
            continue
        seen = {value.name for value in block.parameters}
        for op in block.ops:
            yield from _undominated_uses(block, used_operands(op), seen, home, _dominator_chain(k, above))
            seen |= {value.name for value in op.results}
        last = (
            *end_operands(block),
            *(() if isinstance(block, Loop) else (a for e in flow_edges(block) for a in e.arguments)),
        )
        yield from _undominated_uses(block, last, seen, home, _dominator_chain(k, above))


def _dominator_chain(k: int, above: Sequence[int]) -> set[int]:
    found: set[int] = set()
    while k > 0 and above[k] >= 0 and above[k] != k:
        k = above[k]
        found.add(k)
    return found


def _undominated_uses(
    block: Block | Loop, operands: Sequence[Operand], seen: set[str], home: dict[str, int], chain: set[int]
) -> Iterator[str]:
    for operand in operands:
        if isinstance(operand, Value) and operand.name not in seen and home[operand.name] not in chain:
            yield f"block {block.name}: {print_operand(operand)} is used where its definition does not reach"


def _types(operands: Sequence[Operand]) -> tuple[Type, ...]:
    return tuple(o.type for o in operands)


def _text(operands: Sequence[Operand]) -> str:
    return ", ".join(str(o.type) for o in operands)


# In this order: later rules rely on what earlier ones found right, such as types on names that exist once.
RULES: Final[tuple[Rule, ...]] = (_names, _uses, _edges, _operations, _order, _dominance)
