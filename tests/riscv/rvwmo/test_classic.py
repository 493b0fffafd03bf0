# SPDX-License-Identifier: Apache-2.0
"""The classic tests, with every fence and dependency between their accesses, and those that tell the rules apart.

RVWMO is multi-copy atomic: a cycle of a shape is forbidden exactly if every hart preserves the order of its two
accesses (The RISC-V Instruction Set Manual, Volume I, appendix "RVWMO Explanatory Material"). Verdicts and counts of
the named tests are those that herd7 7.57 with its riscv.cat prints for the tests of the same shapes in the public
collection litmus-tests/litmus-tests-riscv.
"""

from __future__ import annotations

from itertools import product

import pytest
from tests.riscv.rvwmo.shapes import LINKS, SHAPES, applies, cycle, litmus, preserved

from polyloom.riscv.rvwmo import check_text

TWO = [shape for shape, harts in SHAPES.items() if len(harts) == 2]
MORE = [shape for shape in SHAPES if shape not in TWO]
FEW = ["po", "fence rw,rw", "fence r,rw", "fence.tso", "addr", "ctrl", "data", "rl", "aq"]


@pytest.mark.parametrize("shape", TWO)
def test_two_harts_with_every_link(shape: str) -> None:
    for links in product(LINKS, repeat=2):
        if applies(shape, links):
            assert (check_text(cycle(shape, links)).verdict == "Never") == preserved(shape, links), links


@pytest.mark.parametrize("shape", MORE)
def test_more_harts(shape: str) -> None:
    for links in product(FEW, repeat=2):
        if applies(shape, links):
            assert (check_text(cycle(shape, links)).verdict == "Never") == preserved(shape, links), links


_WRITER = "li x5,1; sw x5,0(x6); fence w,w; sw x5,0(x7)"
_STRONG = "li x5,1; sw x5,0(x6); fence rw,rw; sw x5,0(x7)"
_ADDR = "xor {0},{1},{1}; add {0},{0},{2}"


def _addr(scratch: str, source: str, base: str) -> str:
    return _ADDR.format(scratch, source, base)


NAMED: dict[str, tuple[tuple[str, ...], str, str, int, int]] = {
    "CoRR": (("li x5,1; sw x5,0(x6)", "lw x10,0(x6); lw x11,0(x6)"), "exists (1:x10=1 /\\ 1:x11=0)", "Never", 0, 3),
    "CoWW": (("li x5,1; sw x5,0(x6); li x9,2; sw x9,0(x6)",), "exists (x=1)", "Never", 0, 1),
    "CoRW1": (("lw x10,0(x6); li x5,1; sw x5,0(x6)",), "exists (0:x10=1)", "Never", 0, 1),
    "PPOCA": (
        (
            _WRITER,
            f"lw x10,0(x7); li x9,1; bne x10,x0,L0; L0: sw x9,0(x8); lw x11,0(x8); {_addr('x12', 'x11', 'x6')}; lw "
            "x13,0(x12)",
        ),
        "exists (1:x10=1 /\\ 1:x11=1 /\\ 1:x13=0)",
        "Sometimes",
        1,
        3,
    ),
    "PPOAA": (
        (
            _WRITER,
            f"lw x10,0(x7); li x9,1; {_addr('x14', 'x10', 'x8')}; sw x9,0(x14); lw x11,0(x8); "
            f"{_addr('x12', 'x11', 'x6')}; lw x13,0(x12)",
        ),
        "exists (1:x10=1 /\\ 1:x11=1 /\\ 1:x13=0)",
        "Never",
        0,
        3,
    ),
    "RSW": (
        (
            _STRONG,
            f"lw x10,0(x7); {_addr('x14', 'x10', 'x8')}; lw x15,0(x14); lw x11,0(x8); {_addr('x12', 'x11', 'x6')}; lw "
            "x13,0(x12)",
        ),
        "exists (1:x10=1 /\\ 1:x13=0)",
        "Sometimes",
        1,
        3,
    ),
    "RDW": (
        (
            _STRONG,
            f"lw x10,0(x7); {_addr('x14', 'x10', 'x8')}; lw x15,0(x14); lw x11,0(x8); {_addr('x12', 'x11', 'x6')}; lw "
            "x13,0(x12)",
            "li x5,1; sw x5,0(x8)",
        ),
        "exists (1:x10=1 /\\ 1:x15=0 /\\ 1:x11=1 /\\ 1:x13=0)",
        "Never",
        0,
        11,
    ),
    "AMO-FENCE": (
        (
            "li x5,1; sw x5,0(x6); amoswap.w.aq.rl x0,x5,(x8); lw x10,0(x7)",
            "li x5,1; sw x5,0(x7); amoswap.w.aq.rl x0,x5,(x9); lw x10,0(x6)",
        ),
        "exists (0:x10=0 /\\ 1:x10=0)",
        "Never",
        0,
        3,
    ),
    "2+2Swap": (
        (
            "li x5,2; amoswap.w x10,x5,0(x6); li x9,1; amoswap.w x11,x9,0(x7)",
            "li x5,2; amoswap.w x10,x5,0(x7); li x9,1; amoswap.w x11,x9,0(x6)",
        ),
        "exists (x=2 /\\ y=2 /\\ 0:x10=1 /\\ 0:x11=0 /\\ 1:x10=1 /\\ 1:x11=0)",
        "Sometimes",
        1,
        3,
    ),
    "2+2Swap+Acqs": (
        (
            "li x5,2; amoswap.w.aq x10,x5,0(x6); li x9,1; amoswap.w x11,x9,0(x7)",
            "li x5,2; amoswap.w.aq x10,x5,0(x7); li x9,1; amoswap.w x11,x9,0(x6)",
        ),
        "exists (x=2 /\\ y=2 /\\ 0:x10=1 /\\ 0:x11=0 /\\ 1:x10=1 /\\ 1:x11=0)",
        "Never",
        0,
        3,
    ),
    "ForwardAMO": (
        (
            "lw x10,0(x6); fence rw,rw; li x5,1; sw x5,0(x7)",
            "lw x10,0(x7); li x5,1; amoswap.w.rl x1,x5,0(x8); lw x11,0(x8); beq x11,x0,L0; sw x5,0(x6); L0:",
        ),
        "exists (0:x10=1 /\\ 1:x10=1 /\\ 1:x11=1)",
        "Never",
        0,
        3,
    ),
    "ForwardSc": (
        (
            "lw x10,0(x6); fence rw,rw; li x5,1; sw x5,0(x7)",
            "lw x10,0(x7); lr.w x1,0(x8); li x5,1; sc.w.rl x2,x5,0(x8); lw x11,0(x8); beq x11,x0,L0; sw x5,0(x6); L0:",
        ),
        "exists (0:x10=1 /\\ 1:x10=1 /\\ 1:x11=1)",
        "Never",
        0,
        5,
    ),
    "LR-SC-diff-loc3": (
        ("lr.w x10,0(x6); li x5,1; sc.w x11,x5,0(x7)", "lr.w x10,0(x7); li x5,1; sc.w x11,x5,0(x6)"),
        "exists (x=1 /\\ y=1 /\\ 0:x10=0 /\\ 0:x11=0 /\\ 1:x10=0 /\\ 1:x11=0)",
        "Never",
        0,
        1,
    ),
    "S+sc-success": (
        (
            "li x5,1; sw x5,0(x7); fence w,w; sw x5,0(x6)",
            "lw x10,0(x6); lr.w x11,0(x8); sc.w x11,x10,0(x8); andi x12,x11,64; addi x12,x12,2; sw x12,0(x7)",
        ),
        "exists (1:x10=1 /\\ y=1)",
        "Sometimes",
        1,
        6,
    ),
    "spin": (
        ("L0: lr.w x10,0(x6); addi x11,x10,1; sc.w x12,x11,0(x6); bne x12,x0,L0", "lw x10,0(x6); sw x10,0(x7)"),
        "exists (x=1)",
        "Always",
        6,
        0,
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_named(name: str) -> None:
    columns, condition, verdict, positive, negative = NAMED[name]
    found = check_text(litmus(name, columns, condition, "0:x9=w; 1:x9=w;" if name == "AMO-FENCE" else ""))
    assert (found.verdict, found.positive, found.negative) == (verdict, positive, negative)
    assert found.cut == (name == "spin")


def test_values_come_from_somewhere() -> None:
    """Load buffering whose stores write what was read has no value but 0."""
    found = check_text(
        litmus("LB+datas", ("lw x10,0(x6); sw x10,0(x7)", "lw x10,0(x7); sw x10,0(x6)"), "exists (0:x10=1 \\/ 1:x10=1)")
    )
    assert found.states == ("0:x10=0; 1:x10=0;",)


def test_increments() -> None:
    """Atomic increments lose nothing, plain ones may."""
    plain = "lw x10,0(x6); addi x10,x10,1; sw x10,0(x6)"
    assert check_text(litmus("inc", (plain, plain), "forall (x=2)")).states == ("[x]=1;", "[x]=2;")
    atomic = "li x5,1; amoadd.w x10,x5,(x6)"
    assert check_text(litmus("amo", (atomic,) * 4, "forall (x=4)")).verdict == "Always"


def test_pointers() -> None:
    """A pointer that is read is an address dependency; both places that it may point to are considered."""
    found = check_text(
        litmus(
            "MP+pointer",
            ("li x5,1; sw x5,0(x6); fence w,w; sd x6,0(x9)", "ld x10,0(x9); lw x11,0(x10)"),
            "exists (1:x10=x /\\ 1:x11=0)",
            "int *p=z; 0:x9=p; 1:x9=p;",
        )
    )
    assert found.states == ("1:x10=x; 1:x11=1;", "1:x10=z; 1:x11=0;")


def test_indirect_jump_is_a_control_dependency() -> None:
    jump = "lw x10,0(x7); xor x11,x10,x10; add x11,x11,x9; jalr x0,0(x11); L0: {}"
    initial = "1:x9=P1:L0;"
    store = litmus(
        "S+jalr",
        ("li x5,2; sw x5,0(x6); fence w,w; sw x5,0(x7)", jump.format("li x5,1; sw x5,0(x6)")),
        "exists (1:x10=2 /\\ x=2)",
        initial,
    )
    load = litmus("MP+jalr", (_WRITER, jump.format("lw x12,0(x6)")), "exists (1:x10=1 /\\ 1:x12=0)", initial)
    assert (check_text(store).verdict, check_text(load).verdict) == ("Never", "Sometimes")


def test_filter_and_locations() -> None:
    text = litmus(
        "SB",
        ("li x5,1; sw x5,0(x6); lw x10,0(x7)", "li x5,1; sw x5,0(x7); lw x10,0(x6)"),
        "locations [x; 1:x10;] filter (0:x10=0) forall (0:x10=0)",
    )
    found = check_text(text)
    assert found.states == ("0:x10=0; 1:x10=0; [x]=1;", "0:x10=0; 1:x10=1; [x]=1;")
    assert (found.positive, found.negative, found.condition_holds) == (2, 0, True)
