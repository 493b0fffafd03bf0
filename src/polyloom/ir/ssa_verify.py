# SPDX-License-Identifier: Apache-2.0
"""What makes a function of `ir.ssa` well formed, as a list of rules: names, types, arguments of jumps, and that definitions dominate uses.

Blocks that the entry does not reach obey all rules but the last: nothing dominates there (so LLVM's verifier has it, too).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from polyloom._core import DominatorTree
from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.ir.ssa import (
    ARITHMETIC,
    CASTS,
    COMPARISONS,
    EFFECTS,
    FLOAT_COMPARISONS,
    FLOATING,
    FLOATS,
    INTEGERS,
    INTRINSICS,
    NARROW,
    ORDERS,
    RESULT,
    WIDTH,
    Block,
    Branch,
    Function,
    Instruction,
    Operand,
    Return,
    Switch,
    Type,
    Value,
    edges_of,
    flow_edges,
    operand_of,
    wrapped,
)
from polyloom.ir.ssa_text import print_instruction, print_operand

Rule = Callable[[Function], Iterator[str]]


def verify(function: Function) -> Function:
    """The function itself; raises PL0971 with every violation of the first rule that is violated, by it or by one of the others."""
    for member in function.members:
        for rule in RULES:
            if found := tuple(rule(member)):
                raise PolyloomError(*(Diagnostic("PL0971", f"@{member.name}: {message}") for message in found))
    return function


def _functions(function: Function) -> Iterator[str]:
    """The functions of a program have distinct names."""
    yield from (f"the function @{name} occurs {n} times" for name, n in Counter(f.name for f in function.program).items() if n > 1)


def _names(function: Function) -> Iterator[str]:
    """Blocks, data and values have one definition each."""
    yield from (f"the block {name} occurs {n} times" for name, n in Counter(b.name for b in function.blocks).items() if n > 1)
    yield from (f"the datum @{name} occurs {n} times" for name, n in Counter(d.name for d in function.data).items() if n > 1)
    yield from (f"%{name} is defined {n} times" for name, n in Counter(v.name for b in function.blocks for v in definitions(b)).items() if n > 1)


def _uses(function: Function) -> Iterator[str]:
    """What is used is defined, with the same type; addresses are those of data."""
    values = {value for block in function.blocks for value in definitions(block)}
    data = {datum.name for datum in function.data}
    for block in function.blocks:
        for operand in (o for _, group in uses(block) for o in group):
            if isinstance(operand, Value):
                if operand not in values:
                    yield f"block {block.name}: %{operand.name} of type {operand.type} is not defined"
            elif operand.type == "ptr" and (name := getattr(operand, "name", None)) is not None and name not in data:
                yield f"block {block.name}: there is no datum @{name}"


def _jumps(function: Function) -> Iterator[str]:
    """Jumps go to blocks other than the entry, with arguments of the parameters' types."""
    blocks = {block.name: block for block in function.blocks}
    for block in function.blocks:
        for edge in edges_of(block.terminator):
            target = blocks.get(edge.block)
            if target is None:
                yield f"block {block.name}: there is no block {edge.block}"
            elif target is function.blocks[0]:
                yield f"block {block.name}: jumps to the entry {edge.block}"
            elif [a.type for a in edge.arguments] != [p.type for p in target.parameters]:
                yield f"block {block.name}: the arguments of {edge.block} are ({_types(edge.arguments)}), its parameters ({_types(target.parameters)})"


def _ends(function: Function) -> Iterator[str]:
    """Conditions are i1, cases distinct integers of the type, results those of the function."""
    for block in function.blocks:
        match block.terminator:
            case Branch(condition) if condition.type != "i1":
                yield f"block {block.name}: the condition {print_operand(condition)} has the type {condition.type}"
            case Switch(value, _, cases) if value.type not in INTEGERS:
                yield f"block {block.name}: switch over {value.type}, with {len(cases)} cases"
            case Switch(value, _, cases):
                numbers = [case for case, _ in cases]
                yield from (f"block {block.name}: case {c} is out of the range of {value.type}" for c in numbers if wrapped(value.type, c) != c)
                yield from (f"block {block.name}: case {c} occurs {n} times" for c, n in Counter(numbers).items() if n > 1)
            case Return(value) if (value.type if value else None) != function.result:
                yield f"block {block.name}: returns {value.type if value else 'nothing'}, the function {function.result or 'nothing'}"
            case _:
                pass


def _instructions(function: Function) -> Iterator[str]:
    """Operands and results have the operation's types, accesses an alignment and an order that it can have."""
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.called and not _well_called(function, instruction):
                yield f"block {block.name}: `{print_instruction(instruction)}` calls no function with these types of operands and result"
            elif not instruction.called and not _well_typed(instruction):
                yield f"block {block.name}: `{print_instruction(instruction)}` has operands of types ({_types(instruction.operands)})"
            elif not _well_accessed(instruction):
                yield f"block {block.name}: `{print_instruction(instruction)}` has an order or an alignment that it cannot have"


def _well_typed(instruction: Instruction) -> bool:
    types: tuple[Type, ...] = tuple([operand.type for operand in instruction.operands])
    result = instruction.result.type if instruction.result else None
    match instruction.operation:
        case name if name in ARITHMETIC:
            return result in INTEGERS and types == (result, result)
        case name if name in FLOATING:
            return result in FLOATS and types == (result, result)
        case name if name in COMPARISONS:
            return result == "i1" and len(types) == 2 and types[0] == types[1] and types[0] in (*INTEGERS, "ptr")
        case name if name in FLOAT_COMPARISONS:
            return result == "i1" and len(types) == 2 and types[0] == types[1] and types[0] in FLOATS
        case name if name in CASTS:
            return len(types) == 1 and result is not None and _castable(name, types[0], result)
        case "call":
            return _called(instruction.callee, types, result)
        case name:
            return _OTHERS[name](types, result) if name in _OTHERS else False


def _well_called(function: Function, instruction: Instruction) -> bool:
    result = instruction.result.type if instruction.result else None
    types = [operand.type for operand in instruction.operands]
    return any(f.name == instruction.called and (f.result, [p.type for p in f.parameters]) == (result, types) for f in function.program)


def _castable(name: str, source: Type, target: Type) -> bool:
    sources, targets = CASTS[name]
    narrower = {"trunc": WIDTH[target] < WIDTH[source], "bitcast": WIDTH[target] == WIDTH[source]}
    wider = {"zext": WIDTH[target] > WIDTH[source], "sext": WIDTH[target] > WIDTH[source]}
    return source in sources and target in targets and (narrower | wider).get(name, True)


def _called(callee: str, types: tuple[Type, ...], result: Type | None) -> bool:
    if callee in EFFECTS:
        return result is None and types == EFFECTS[callee]
    count, allowed = INTRINSICS.get(callee, (0, ()))
    return result in allowed and types == (result,) * count


_OTHERS: dict[str, Callable[[tuple[Type, ...], Type | None], bool]] = {
    "copy": lambda types, result: types == (result,),
    "fneg": lambda types, result: result in FLOATS and types == (result,),
    "select": lambda types, result: result is not None and types == ("i1", result, result),
    "offset": lambda types, result: result == "ptr" and types == ("ptr", "i64"),
    "load": lambda types, result: result is not None and types == ("ptr",),
    "store": lambda types, result: result is None and len(types) == 2 and types[1] == "ptr",
    "fence": lambda types, result: result is None and not types,
    "alloca": lambda types, result: result == "ptr" and types == ("i64",),
}


def _well_accessed(instruction: Instruction) -> bool:
    access = instruction.access
    if instruction.operation not in ("load", "store", "fence", "alloca"):
        return access is None
    return access is not None and access.align > 0 and access.align & (access.align - 1) == 0 and access.order in ORDERS.get(instruction.operation, ("",))


def _dominance(function: Function) -> Iterator[str]:
    """A definition dominates its uses: within a block it stands before them; an argument is used at the end of the block that jumps."""
    tree = DominatorTree(len(function.blocks), flow_edges(function), 0, 2)
    position, size = tree.position, tree.size
    place = {value.name: (k, order) for k, block in enumerate(function.blocks) for value, order in _ordered(block)}
    for k, block in enumerate(function.blocks):
        for order, operands in uses(block) if position[k] >= 0 else ():
            for operand in operands:
                if not isinstance(operand, Value):
                    continue
                where, defined = place[operand.name]
                above = position[where] >= 0 and position[where] <= position[k] < position[where] + size[where]
                if not above or (where == k and defined >= order):
                    yield f"block {block.name}: %{operand.name}, defined in block {function.blocks[where].name}, does not dominate its use"


def _ordered(block: Block) -> Iterator[tuple[Value, int]]:
    yield from ((parameter, -1) for parameter in block.parameters)
    yield from ((i.result, k) for k, i in enumerate(block.instructions) if i.result is not None)


def definitions(block: Block) -> Iterator[Value]:
    """Parameters first, then results in their order."""
    return (value for value, _ in _ordered(block))


def uses(block: Block) -> Iterator[tuple[int, tuple[Operand, ...]]]:
    """The operands of each instruction with its position, then those of the terminator."""
    yield from ((k, instruction.operands) for k, instruction in enumerate(block.instructions))
    decided = operand_of(block.terminator)
    arguments = tuple(a for edge in edges_of(block.terminator) for a in edge.arguments)
    yield len(block.instructions), (*((decided,) if decided is not None else ()), *arguments)


def _types(operands: tuple[Operand, ...]) -> str:
    return ", ".join(operand.type for operand in operands)


def _unsigned(function: Function) -> Iterator[str]:
    """Only narrow integers are extended with zeros."""
    types = [*(p.type for p in function.parameters), function.result]
    for k in sorted(function.unsigned):
        if not RESULT <= k < len(function.parameters) or types[k] not in NARROW:
            yield f"{'the result' if k == RESULT else f'parameter {k}'} is extended with zeros, but is neither i8 nor i16"


RULES: tuple[Rule, ...] = (_functions, _names, _unsigned, _uses, _jumps, _ends, _instructions, _dominance)
