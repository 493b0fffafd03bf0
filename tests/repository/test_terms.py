# SPDX-License-Identifier: Apache-2.0
"""A search by a term of the field finds the file: terms stand in names, and in the first paragraphs of docstrings."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest
from tests.repository.house import definitions

# What a reader who knows the field would search for, and where it is.
FILES = {
    "address mode": "transform/ssa/address_modes.py",
    "affine form": "frontend/loops/affine.py",
    "alias analysis": "analysis/aliases.py",
    "assembler": "riscv/assemble.py",
    "atomic": "riscv/backend/atomics.py",
    "barrier": "targets/minion/map/simd/spmd_program.py",
    "cache line": "transform/parallel/cache_lines.py",
    "calling convention": "riscv/backend/abi.py",
    "channel routing": "targets/tcpa/map/channel_routing.py",
    "coalescing": "targets/tensix/source/allocate/allocate.py",
    "common subexpression": "transform/ssa/common.py",
    "constant folding": "transform/ssa/constant_folding.py",
    "convolution": "analysis/convolution.py",
    "copy propagation": "riscv/backend/propagate.py",
    "critical path": "targets/belt/map/schedule/open_code.py",
    "dead code": "transform/ssa/dce.py",
    "demanded lanes": "targets/tensix/source/lower/demand.py",
    "disassembler": "riscv/disassemble.py",
    "dominator tree": "analysis/dominators.py",
    "escape analysis": "analysis/aliases.py",
    "fences": "riscv/backend/memory.py",
    "fusion": "transform/parallel/restructuring/loop_fusion.py",
    "graph colouring": "targets/tcpa/map/graph_colouring.py",
    "hyperblock": "transform/ssa/hyperblocks.py",
    "if-conversion": "transform/ssa/if_convert.py",
    "im2col": "analysis/im2col.py",
    "index set splitting": "frontend/loops/remainders.py",
    "initiation interval": "modulo/bounds.py",
    "inlining": "transform/ssa/inlining.py",
    "instruction selection": "riscv/backend/lower.py",
    "interference graph": "targets/tensix/source/allocate/interference.py",
    "jump threading": "transform/ssa/simplify.py",
    "legalize": "riscv/backend/legalize.py",
    "list scheduling": "riscv/backend/schedule.py",
    "litmus test": "riscv/rvwmo/litmus.py",
    "live range": "targets/tensix/source/allocate/reduce_pressure.py",
    "liveness": "analysis/liveness.py",
    "loop distribution": "transform/parallel/loop_distribution.py",
    "loop rotation": "transform/ssa/rotate.py",
    "loop-invariant": "transform/ssa/hoist.py",
    "memory model": "riscv/rvwmo/check.py",
    "minimum initiation interval": "modulo/bounds.py",
    "modulo scheduling": "modulo/__init__.py",
    "Pareto front": "exploration/front.py",
    "points-to": "analysis/aliases.py",
    "prefetch": "targets/minion/map/convolution/weight_prefetch.py",
    "preserved program order": "riscv/rvwmo/ppo.py",
    "privatization": "analysis/privatizable.py",
    "provenance": "targets/provenance.py",
    "reassociation": "transform/ssa/reassociate.py",
    "recurrence": "ir/recurrence.py",
    "redundant load elimination": "transform/ssa/redundant_loads.py",
    "register allocation": "riscv/backend/allocate.py",
    "register pressure": "targets/tensix/source/allocate/pressure.py",
    "relocation": "targets/forms/relocation.py",
    "rematerialization": "targets/tensix/source/allocate/reduce_pressure.py",
    "roofline": "report/comparison/roofline.py",
    "scalar replacement": "transform/nest_to_ssa/scalar_replacement.py",
    "scratch allocation": "targets/belt/map/schedule/scratch_allocation.py",
    "software coherence": "transform/parallel/software_coherence.py",
    "speculation": "transform/ssa/speculation.py",
    "spilling": "targets/belt/map/schedule/spill.py",
    "store forwarding": "transform/ssa/redundant_loads.py",
    "strength reduction": "transform/ssa/strength_reduction.py",
    "strip mining": "frontend/strip_mining.py",
    "superblock": "analysis/superblocks.py",
    "trip count": "analysis/trip_counts.py",
    "unrolling": "transform/ssa/unroll.py",
    "value range": "analysis/value_ranges.py",
    "vectorization": "transform/ssa/vectorize/__init__.py",
    "wavefront": "targets/tcpa/map/wavefront_skew.py",
}
FIRST = 4
"""A reader looks at so many results."""


def _words(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.lower())


@cache
def _texts() -> tuple[tuple[str, str, str, str], ...]:
    """Of each definition its file, its kind, its name and the first paragraph of its docstring."""
    return tuple(
        (d.place.partition(":")[0], d.kind, _words(d.name), _words(d.docstring.split("\n\n")[0])) for d in definitions()
    )


def search(term: str) -> list[str]:
    """Files in the order of what a search shows: names of files before names of functions, titles before the rest."""
    wanted, found = _words(term), Counter[str]()
    for file, kind, name, text in _texts():
        found[file] += 6 * (wanted in name) + (5 if kind == "module" else 1) * (wanted in text)
        found[file] += 10 * (kind == "module" and wanted in _words(file))
    return [file for file, score in sorted(found.items(), key=lambda row: (-row[1], row[0])) if score]


@pytest.mark.parametrize("term", FILES)
def test_a_search_by_a_term_finds_the_file(term: str) -> None:
    assert FILES[term] in search(term)[:FIRST]


def test_terms_are_many_and_a_word_that_nobody_uses_finds_nothing() -> None:
    assert len(FILES) >= 60
    assert search("flux capacitor") == []
