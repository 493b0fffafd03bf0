# SPDX-License-Identifier: Apache-2.0
"""Verifier of `ir.ssa`, as a list of rules: names, types, arguments of jumps, and that definitions dominate uses.

Blocks that the entry does not reach obey all rules but the last: nothing dominates there (so LLVM's verifier has it,
too).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from polyloom._native.graph import DominatorTree
from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.ir.ssa import (
    ARITHMETIC,
    ATOMICS,
    CASTS,
    COMPARISONS,
    EFFECTS,
    FLOAT_COMPARISONS,
    FLOATING,
    GUARDED,
    INDIRECT,
    INTRINSICS,
    MODIFICATIONS,
    NARROW,
    ORDERS,
    REDUCTIONS,
    RESULT,
    SMEARS,
    SPECULATED,
    SPECULATIVE,
    Block,
    Branch,
    Constant,
    Function,
    Instruction,
    Operand,
    Return,
    Switch,
    Value,
    flow_edges,
    successor_edges,
    terminator_operand,
    wrap_to_type,
)
from polyloom.ir.ssa_externals import EFFECT_NAMES
from polyloom.ir.ssa_text import print_instruction, print_operand
from polyloom.ir.ssa_types import ADDRESSES, FLOATS, I1, I8, I32, INTEGERS, PTR, Type

Rule = Callable[[Function], Iterator[str]]
_Types = tuple[Type, ...]


def verify(function: Function) -> Function:
    """The function itself; raises PL0971 with every violation of the first rule that is violated, by it or by one of
    the others."""
    return _check_rules(function, RULES)


def verify_variables(function: Function) -> Function:
    """Verifier of a function out of SSA form, whose values are variables: they may be defined several times."""
    return _check_rules(function, tuple(rule for rule in RULES if rule not in (_single_assignment, _dominance)))


def _check_rules(function: Function, rules: Sequence[Rule]) -> Function:
    for member in function.members:
        for rule in rules:
            if found := tuple(rule(member)):
                raise PolyloomError(*(Diagnostic("PL0971", f"@{member.name}: {message}") for message in found))
    return function


def _distinct_functions(function: Function) -> Iterator[str]:
    """The functions of a program have distinct names."""
    yield from (
        f"the function @{name} occurs {n} times"
        for name, n in Counter(f.name for f in function.program).items()
        if n > 1
    )


def _program_agrees(function: Function) -> Iterator[str]:
    """Functions of a program have pointers of one width; external ones have other names, and effects in their order."""
    names = {f.name for f in function.program}
    yield from (
        f"@{f.name} has pointers of {f.pointers} bits, @{function.name} of {function.pointers}"
        for f in function.others
        if f.pointers != function.pointers
    )
    yield from (f"pointers of {function.pointers} bits" for _ in range(function.pointers not in ADDRESSES))
    for name, number in Counter(e.name for e in function.externals).items():
        if number > 1 or name in names:
            yield (
                f"the external function @{name} "
                f"{f'occurs {number} times' if number > 1 else 'is a function of the program'}"
            )
    for external in function.externals:
        if external.effects != tuple(e for e in EFFECT_NAMES if e in external.effects):
            yield f"the external function @{external.name} has the effects ({', '.join(external.effects)})"


def _distinct_names(function: Function) -> Iterator[str]:
    """Blocks and data have one definition each."""
    yield from (
        f"the block {name} occurs {n} times" for name, n in Counter(b.name for b in function.blocks).items() if n > 1
    )
    yield from (
        f"the datum @{name} occurs {n} times" for name, n in Counter(d.name for d in function.data).items() if n > 1
    )


def _single_assignment(function: Function) -> Iterator[str]:
    """Single static assignment (Cytron et al. 1991): values have one definition each."""
    yield from (
        f"%{name} is defined {n} times"
        for name, n in Counter(v.name for b in function.blocks for v in definitions(b)).items()
        if n > 1
    )


def _constants_fit(function: Function) -> Iterator[str]:
    """Constants are in the range of their type: addresses in that of pointers."""
    for block in function.blocks:
        for operand in (o for _, group in uses(block) for o in group if isinstance(o, Constant)):
            if operand.type.element == "ptr" and operand.value >> function.pointers:
                yield f"block {block.name}: {print_operand(operand)} is no address of {function.pointers} bits"


def _pointers_in_data(function: Function) -> Iterator[str]:
    """Pointers in data lie within the datum, one behind the other, in the place of zeros, and point to data or
    functions; no datum has the name of a function."""
    known = {datum.name for datum in function.data}
    names = {member.name for member in function.program}
    yield from (f"the datum @{name} has the name of a function" for name in sorted(known & names))
    size = function.pointers // 8
    for datum in function.data:
        end = 0
        for place, address in datum.addresses:
            # Zeros, because a linker writes the whole word.
            if place < end or place + size > len(datum.initial) or any(datum.initial[place : place + size]):
                yield f"the datum @{datum.name} has no room for a pointer of {size} bytes at {place}"
            if address.name not in known | names:
                yield f"the datum @{datum.name}: there is neither a datum nor a function @{address.name}"
            end = place + size


def _uses_are_defined(function: Function) -> Iterator[str]:
    """Definedness: what is used is defined, with the same type; addresses are those of data and of functions."""
    values = {value for block in function.blocks for value in definitions(block)}
    data = {datum.name for datum in function.data} | {member.name for member in function.program}
    for block in function.blocks:
        for operand in (o for _, group in uses(block) for o in group):
            if isinstance(operand, Value):
                if operand not in values:
                    yield f"block {block.name}: %{operand.name} of type {operand.type} is not defined"
            elif operand.type == PTR and (name := getattr(operand, "name", None)) is not None and name not in data:
                yield f"block {block.name}: there is neither a datum nor a function @{name}"


def _jumps_match(function: Function) -> Iterator[str]:
    """Jumps go to blocks other than the entry, with arguments of the parameters' types."""
    blocks = {block.name: block for block in function.blocks}
    for block in function.blocks:
        for edge in successor_edges(block.terminator):
            target = blocks.get(edge.block)
            if target is None:
                yield f"block {block.name}: there is no block {edge.block}"
            # The parameters of the entry are the function's: a jump would change them.
            elif target is function.blocks[0]:
                yield f"block {block.name}: jumps to the entry {edge.block}"
            elif [a.type for a in edge.arguments] != [p.type for p in target.parameters]:
                yield (
                    f"block {block.name}: the arguments of {edge.block} are ({_print_types(edge.arguments)}), its "
                    f"parameters ({_print_types(target.parameters)})"
                )


def _terminators_match(function: Function) -> Iterator[str]:
    """Conditions are i1, cases distinct integers of the type, results those of the function."""
    for block in function.blocks:
        match block.terminator:
            case Branch(condition) if condition.type != I1:
                yield f"block {block.name}: the condition {print_operand(condition)} has the type {condition.type}"
            case Switch(value, _, cases) if value.type not in INTEGERS:
                yield f"block {block.name}: switch over {value.type}, with {len(cases)} cases"
            case Switch(value, _, cases):
                numbers = [case for case, _ in cases]
                yield from (
                    f"block {block.name}: case {c} is out of the range of {value.type}"
                    for c in numbers
                    if wrap_to_type(value.type, c) != c
                )
                yield from (
                    f"block {block.name}: case {c} occurs {n} times" for c, n in Counter(numbers).items() if n > 1
                )
            case Return(value) if (value.type if value else None) != function.result:
                yield (
                    f"block {block.name}: returns {value.type if value else 'nothing'}, the function "
                    f"{function.result or 'nothing'}"
                )
            case _:
                pass


def _instructions_match(function: Function) -> Iterator[str]:
    """Operands and results have the operation's types, accesses an alignment and an order that it can have."""
    known = {f.name: (tuple(p.type for p in f.parameters), (f.result,) if f.result else ()) for f in function.program}
    known |= {e.name: (e.parameters, e.results) for e in function.externals}
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.called and known.get(instruction.called) != _signature(instruction):
                yield (
                    f"block {block.name}: `{print_instruction(instruction)}` calls no function with these types of "
                    "operands and result"
                )
            elif not instruction.called and not _has_operation_types(instruction, function.pointers):
                yield (
                    f"block {block.name}: `{print_instruction(instruction)}` has operands of types "
                    f"({_print_types(instruction.operands)})"
                )
            elif not _has_valid_access(instruction):
                yield (
                    f"block {block.name}: `{print_instruction(instruction)}` has an order or an alignment that it "
                    "cannot have"
                )


def _has_operation_types(instruction: Instruction, pointers: int) -> bool:
    """Lane by lane: operands and result have as many lanes, of the types of the operation."""
    types = tuple([operand.type for operand in instruction.operands])
    if len(instruction.results) > 1:
        return False
    result = instruction.results[0].type if instruction.results else None
    name = instruction.operation
    if name in ATOMICS:
        return _is_atomic(instruction, types, result)
    if name in _OTHERS:
        return _OTHERS[name](types, result, ADDRESSES[pointers])
    if name == "call" and instruction.callee == INDIRECT:
        return types[:1] == (PTR,)
    if name == "call" and instruction.callee in REDUCTIONS:
        return (
            len(types) == 1
            and bool(types[0].lanes)
            and types[0].scalar == result
            and result in REDUCTIONS[instruction.callee][1]
        )
    if name == "call" and instruction.callee in EFFECTS:
        return result is None and types == (PTR, I8 if instruction.callee == "memset" else PTR, ADDRESSES[pointers])
    if result is None or len({type.lanes for type in (*types, result)}) > 1:
        return False
    return _has_lane_types(instruction, tuple([type.scalar for type in types]), result.scalar, pointers)


def _has_lane_types(instruction: Instruction, types: tuple[Type, ...], result: Type, pointers: int) -> bool:
    """Typing of operations by the types of one lane."""
    match instruction.operation:
        case name if name in ARITHMETIC:
            return result in INTEGERS and types == (result, result)
        case name if name in FLOATING:
            return result in FLOATS and types == (result, result)
        case name if name in COMPARISONS:
            comparable = len(types) == 2 and (types[0] in INTEGERS or types[0].element == "ptr")
            return result == I1 and comparable and types[0] == types[1]
        case name if name in FLOAT_COMPARISONS:
            return result == I1 and len(types) == 2 and types[0] == types[1] and types[0] in FLOATS
        case name if name in CASTS:
            return len(types) == 1 and _is_castable(name, types[0], result, pointers)
        case "fneg":
            return result in FLOATS and types == (result,)
        case "call":
            count, allowed = INTRINSICS.get(instruction.callee, (0, ()))
            return result in allowed and types == (result,) * count
        case _:
            return False


def _signature(instruction: Instruction) -> tuple[_Types, _Types]:
    arguments = instruction.operands[:-1] if GUARDED in instruction.flags else instruction.operands
    return tuple([operand.type for operand in arguments]), tuple([result.type for result in instruction.results])


def _predicate_flags(function: Function) -> Iterator[str]:
    """Loads and divisions are speculative; calls of functions are guarded, by an i1."""
    for block in function.blocks:
        for i in block.instructions:
            guarded = bool(i.called) and i.operands[-1:] != () and i.operands[-1].type == I1
            if (SPECULATIVE in i.flags and i.operation not in SPECULATED) or (GUARDED in i.flags and not guarded):
                yield f"block {block.name}: `{print_instruction(i)}` cannot be {SPECULATIVE} or {GUARDED} so"


def _is_castable(name: str, source: Type, target: Type, pointers: int) -> bool:
    sources, targets = CASTS[name]
    if name in ("ptrtoint", "inttoptr"):
        whole, address = (target, source) if name == "ptrtoint" else (source, target)
        return whole == ADDRESSES[pointers] and address.element == "ptr"
    narrower = {"trunc": target.bits < source.bits, "bitcast": target.bits == source.bits}
    wider = {"zext": target.bits > source.bits, "sext": target.bits > source.bits}
    return source in sources and target in targets and (narrower | wider).get(name, True)


def _is_select(types: _Types, result: Type | None) -> bool:
    return result is not None and types[1:] == (result, result) and types[0] in (I1, I1.with_lanes(result.lanes))


def _is_offset(types: _Types, result: Type | None, address: Type) -> bool:
    return result is not None and result.element == "ptr" and types == (result, address.with_lanes(result.lanes))


def _is_accessible(value: Type, pointer: Type, more: _Types) -> bool:
    """A vector is accessed at one address or at one for each lane; a mask has a bit for each, of a scalar for all."""
    masks = len(more) in (0, 1) and all(type == I1.with_lanes(value.lanes) for type in more)
    return pointer.element == "ptr" and pointer.lanes in (0, value.lanes) and masks


def _is_load(types: _Types, result: Type | None) -> bool:
    """An address; for some lanes also a mask and what the others are."""
    whole = result is not None and (len(types) == 1 or (len(types) == 3 and types[2] == result))
    return whole and result is not None and _is_accessible(result, types[0], types[1:2])


def _is_atomic(instruction: Instruction, types: _Types, result: Type | None) -> bool:
    """A pointer and values of the result's type: one for `rmw`, of those that its name allows, two for `cas`."""
    is_changed = instruction.operation == "rmw"
    allowed = MODIFICATIONS.get(instruction.callee, ()) if is_changed else (*INTEGERS[1:], PTR)
    return result in allowed and types == (PTR, *(result,) * (1 if is_changed else 2))


_OTHERS: dict[str, Callable[[_Types, Type | None, Type], bool]] = {
    "copy": lambda types, result, _: types == (result,),
    "select": lambda types, result, _: len(types) == 3 and _is_select(types, result),
    "offset": _is_offset,
    "load": lambda types, result, _: _is_load(types, result),
    "store": lambda types, result, _: (
        result is None and len(types) in (2, 3) and _is_accessible(types[0], types[1], types[2:])
    ),
    "fence": lambda types, result, _: result is None and not types,
    "alloca": lambda types, result, address: result is not None and result == PTR and types == (address,),
    "splat": lambda types, result, _: result is not None and bool(result.lanes) and types == (result.scalar,),
    "extract": lambda types, result, _: (
        len(types) == 2 and bool(types[0].lanes) and types == (types[0], I32) and types[0].scalar == result
    ),
    "insert": lambda types, result, _: (
        result is not None and bool(result.lanes) and types == (result, result.scalar, I32)
    ),
    **dict.fromkeys(SMEARS, lambda types, result, _: result is not None and result.mask and types == (result,)),
    "iota": lambda types, result, _: (
        result is not None and bool(result.lanes) and not types and result.scalar in INTEGERS and not result.mask
    ),
}


def _has_valid_access(instruction: Instruction) -> bool:
    access = instruction.access
    if instruction.operation not in (*ORDERS, "alloca"):
        return access is None
    if access is not None and access.order and _is_vector(instruction):
        return False  # no machine accesses several lanes at once, atomically
    return (
        access is not None
        and access.align > 0
        # A power of two: x & (x - 1) clears the lowest set bit (Hacker's Delight, section 2-1).
        and access.align & (access.align - 1) == 0
        and access.order in ORDERS.get(instruction.operation, ("",))
    )


def _is_vector(instruction: Instruction) -> bool:
    return any(of.type.lanes for of in (*instruction.operands, *instruction.results))


def _dominance(function: Function) -> Iterator[str]:
    """Dominance (Cytron et al. 1991, section 3): a definition dominates its uses; within a block it stands before them;
    an argument is used at the end of the block that jumps.
    """
    tree = DominatorTree(len(function.blocks), flow_edges(function), 0, 2)
    position, size = tree.position, tree.size
    place = {
        value.name: (k, order)
        for k, block in enumerate(function.blocks)
        for value, order in _definition_positions(block)
    }
    for k, block in enumerate(function.blocks):
        for order, operands in uses(block) if position[k] >= 0 else ():
            for operand in operands:
                if not isinstance(operand, Value):
                    continue
                where, defined = place[operand.name]
                # By preorder numbers: a block dominates those in its interval of the dominator tree (Dietz 1982).
                above = position[where] >= 0 and position[where] <= position[k] < position[where] + size[where]
                if not above or (where == k and defined >= order):
                    yield (
                        f"block {block.name}: %{operand.name}, defined in block {function.blocks[where].name}, does "
                        "not dominate its use"
                    )


def _definition_positions(block: Block) -> Iterator[tuple[Value, int]]:
    yield from ((parameter, -1) for parameter in block.parameters)
    yield from ((result, k) for k, i in enumerate(block.instructions) for result in i.results)


def definitions(block: Block) -> Iterator[Value]:
    """Parameters first, then results in their order."""
    return (value for value, _ in _definition_positions(block))


def uses(block: Block) -> Iterator[tuple[int, tuple[Operand, ...]]]:
    """The operands of each instruction with its position, then those of the terminator."""
    yield from ((k, instruction.operands) for k, instruction in enumerate(block.instructions))
    decided = terminator_operand(block.terminator)
    arguments = tuple(a for edge in successor_edges(block.terminator) for a in edge.arguments)
    yield len(block.instructions), (*((decided,) if decided is not None else ()), *arguments)


def _print_types(operands: tuple[Operand, ...]) -> str:
    return ", ".join(str(operand.type) for operand in operands)


def _zero_extensions(function: Function) -> Iterator[str]:
    """Only narrow integers are extended with zeros."""
    types = [*(p.type for p in function.parameters), function.result]
    for k in sorted(function.unsigned):
        if not RESULT <= k < len(function.parameters) or types[k] not in NARROW:
            yield (
                f"{'the result' if k == RESULT else f'parameter {k}'} is extended with zeros, but is neither i8 nor i16"
            )


def _restrict_pointers(function: Function) -> Iterator[str]:
    """Only pointers are restricted."""
    for k in sorted(function.restricted):
        if not 0 <= k < len(function.parameters) or function.parameters[k].type != PTR:
            yield f"parameter {k} is restricted, but is no pointer"


# Dominance is last: it needs blocks, names and jumps that exist.
RULES: tuple[Rule, ...] = (
    _distinct_functions,
    _program_agrees,
    _distinct_names,
    _single_assignment,
    _constants_fit,
    _zero_extensions,
    _restrict_pointers,
    _pointers_in_data,
    _uses_are_defined,
    _jumps_match,
    _terminators_match,
    _predicate_flags,
    _instructions_match,
    _dominance,
)
