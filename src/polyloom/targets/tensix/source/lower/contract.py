# SPDX-License-Identifier: Apache-2.0
"""Contraction: a float product whose only use is one sum in its loop and its condition region becomes a SFPMAD there.

The product stays where its sum cannot take it: each sum takes the first product in the order of the text. What is
subtracted is negated first, −(a·b) is a product of −a. Meaning: docs/sfpi.md; one rounding as of IEEE 754's
fusedMultiplyAdd.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from polyloom.analysis.loops import loop_forest
from polyloom.ir.ssa import I32, Constant, Function, Instruction, Operand, Value, flow_edges
from polyloom.ir.ssa_verify import uses
from polyloom.targets.tensix.source.operations import PREFIX, VECTOR, called_operation
from polyloom.targets.tensix.source.regions import Frames, Path, analyze_regions
from polyloom.transform.ssa.function_editing import names

Site = tuple[str, int]


def contract(function: Function) -> Function:
    """Contraction of sums of products, blocks and their order as they were."""
    walk = _Walk(function)
    for site in list(walk.code):
        walk.visit(site)
    return walk.function()


class _Walk:
    """Contraction in work. Mutable: what stands at each site now, an absent one for a product that went into its
    sum."""

    def __init__(self, function: Function) -> None:
        self.source, self.fresh = function, names(function)
        self.code: dict[Site, tuple[Instruction, ...]] = {
            (block.name, k): (i,) for block in function.blocks for k, i in enumerate(block.instructions)
        }
        self.counts = Counter(
            operand.name
            for b in function.blocks
            for _, group in uses(b)
            for operand in group
            if isinstance(operand, Value)
        )
        self.users = {
            operand.name: site
            for site, (i,) in self.code.items()
            for operand in i.operands
            if isinstance(operand, Value)
        }
        # A sum in an inner loop would repeat the product; one in an outer loop would read only the last.
        forest = loop_forest(len(function.blocks), flow_edges(function))
        self.loops = {block.name: forest.innermost[k] for k, block in enumerate(function.blocks)}
        found = analyze_regions(function)
        self.paths = {site: _region_path(found.frames[site]) for site in self.code if site in found.frames}

    def visit(self, site: Site) -> None:
        # A contracted sum may have a negation before it, so that the last instruction is the one that counts.
        product = self.code[site][-1]
        if _operation(product) != "sfpmul" or site not in self.paths:
            return
        value = product.results[0]
        user = self.users.get(value.name)
        if self.counts[value.name] != 1 or user is None or not self._may_contract(site, user):
            return
        made = self._contract_sum(product, self.code[user])
        if made:
            self.code[site], self.code[user] = self.code[site][:-1], made

    def _may_contract(self, site: Site, user: Site) -> bool:
        outer, inner = self.paths[site], self.paths.get(user, ())
        # A product of another loop would be computed once per iteration; one in a wider region must not lose lanes.
        return self.loops[site[0]] == self.loops[user[0]] and user in self.paths and inner[: len(outer)] == outer

    def _contract_sum(self, product: Instruction, there: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        """Instructions that stand for the sum; nothing where it cannot take a product."""
        if len(there) != 1 or len(there[0].operands) < 2:
            return ()
        (sum,) = there
        (a, b, _), (left, right) = product.operands, sum.operands[:2]
        is_left = left == product.results[0]
        other = right if is_left else left
        match _operation(sum):
            case "sfpadd":
                return (_call(sum, "sfpmad", a, b, other),)
            case "sfpsub" if is_left:
                negation, negative = self._negate(other, sum)
                return (negation, _call(sum, "sfpmad", a, b, negative))
            case "sfpsub":
                negation, negative = self._negate(a, sum)
                return (negation, _call(sum, "sfpmad", negative, b, other))
            case "negation":
                negation, negative = self._negate(a, sum)
                return (negation, _call(sum, "sfpmul", negative, b))
            case _:
                return ()

    def _negate(self, operand: Operand, at: Instruction) -> tuple[Instruction, Value]:
        value = Value(self.fresh("negative"), VECTOR)
        return replace(_call(at, "sfpmov", operand, mode=1), results=(value,)), value

    def function(self) -> Function:
        blocks = (
            replace(b, instructions=tuple(i for k in range(len(b.instructions)) for i in self.code[b.name, k]))
            for b in self.source.blocks
        )
        return replace(self.source, blocks=tuple(blocks))


def _operation(instruction: Instruction) -> str:
    """Name of the operation that takes part, in the mode that does."""
    row = called_operation(instruction)
    if row is None or row.name not in ("sfpmul", "sfpadd", "sfpsub", "sfpmov"):
        return ""
    mode = instruction.operands[-1]
    number = mode.value if isinstance(mode, Constant) else 0
    if row.name == "sfpmov":
        return "negation" if number == 1 else ""
    return "" if number else row.name


def _region_path(frames: Frames) -> Path:
    """Region path: the steps into each frame, and those since its last else, for a product before it is no product
    behind it.
    """
    return tuple(step for f in frames for step in ((f.steps[0], *f.steps[f.arm :]) if f.arm else f.steps))


def _call(at: Instruction, name: str, *operands: Operand, mode: int = 0) -> Instruction:
    return replace(at, callee=f"@{PREFIX}{name}", operands=(*operands, Constant(I32, mode)))
