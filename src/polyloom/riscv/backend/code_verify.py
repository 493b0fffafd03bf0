# SPDX-License-Identifier: Apache-2.0
"""Verifier of machine code over virtual registers: well-formedness as a list of rules.

Allocations have a checker of their own (check.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.riscv.backend.code import CALLS, ENDS, PHYSICAL, Code, Op, Reg, branch_targets, defs_and_uses, shape
from polyloom.riscv.backend.live import live_out_sets

Rule = Callable[[Code], Iterator[str]]


def verify(code: Code) -> Code:
    """The code itself; raises PL0978 with every violation of the first rule that is violated."""
    for rule in RULES:
        if found := tuple(rule(code)):
            raise PolyloomError(*(Diagnostic("PL0978", f"the code of {code.name}: {message}") for message in found))
    return code


def _block_names(code: Code) -> Iterator[str]:
    """Blocks have names of their own, and jumps go to blocks."""
    names = Counter(block.name for block in code.blocks)
    yield from (f"the block {name} occurs {number} times" for name, number in names.items() if number > 1)
    for block in code.blocks:
        yield from (
            f"block {block.name}: `{op}` goes to no block"
            for op in block.ops
            if any(t not in names for t in branch_targets(op))
        )


def _operand_kinds(code: Code) -> Iterator[str]:
    """An instruction has an operand for each field, registers where the field is one."""
    for block in code.blocks:
        for op in block.ops:
            if op.mnemonic not in CALLS and not _fits_shape(op, shape(op.mnemonic, code.isa)):
                yield f"block {block.name}: `{op}` has other operands than its row"


def _fits_shape(op: Op, letters: str) -> bool:
    kinds = [letter in "du" for letter in letters[: len(op.operands)]]
    complete = len(op.operands) == len(letters) or op.mnemonic == "ret"
    return complete and all(
        isinstance(o, Reg) == is_register for o, is_register in zip(op.operands, kinds, strict=False)
    )


def _block_ends(code: Code) -> Iterator[str]:
    """Branches and jumps stand at the end of a block."""
    for block in code.blocks:
        first = next((k for k, op in enumerate(block.ops) if op.mnemonic in ENDS), len(block.ops))
        yield from (
            f"block {block.name}: `{op}` stands behind an end" for op in block.ops[first:] if op.mnemonic not in ENDS
        )


def _defined_before_use(code: Code) -> Iterator[str]:
    """No virtual register is read before something was written into it, on whatever path: none is live at the entry."""
    first = code.blocks[0]
    # What is live at the entry would be read before anything was written.
    # Liveness over all paths: one path without a definition suffices for a violation.
    alive = live_out_sets(code)[0]
    for op in reversed(first.ops):
        defined, used = defs_and_uses(op, code.isa)
        alive.difference_update(defined)
        alive.update(used)
    yield from (
        f"{register} may be read before it is written" for register in sorted(alive) if register.number >= PHYSICAL
    )


RULES: tuple[Rule, ...] = (_block_names, _operand_kinds, _block_ends, _defined_before_use)
