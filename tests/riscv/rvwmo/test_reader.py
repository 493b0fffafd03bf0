# SPDX-License-Identifier: Apache-2.0
"""The herd format: what is written reads back, and what is wrong is shown at its line and column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden

from polyloom.diagnostics import PolyloomError, Source
from polyloom.riscv.rvwmo import check_text
from polyloom.riscv.rvwmo.litmus import (
    And,
    Declaration,
    Equal,
    Instruction,
    Litmus,
    Not,
    Or,
    Place,
    Proposition,
    Register,
    Statement,
    print_litmus,
)
from polyloom.riscv.rvwmo.reader import read_litmus
from polyloom.riscv.rvwmo.values import Pointer

EVERYTHING = """RISCV MP+all
"a test with everything"
Orig=Fence.w.wdWW Rfe
{
uint64_t x; int *p = &z; 0:a0=x; 0:x7=p; y=0x10;
1:x6=y; P1:x8=x; 1:x9=P1:LC00; [z]=-3
}
 P0          | P1              ;
 li t0,1     | lw.aq a0,0(x6)  ;  (* a comment (* inside *) *)
 sw t0,(a0)  | beqz a0,LC00    ;
 fence w,w   | LC00: fence.i   ;
 sd.rl x5,(x7) | LR: LC:       ;
             | czero.eqz x1,x2,x3 ;
locations [x; 1:a0;]
filter not (0:x5=2)
exists ((1:x10=1 \\/ z=p) /\\ ~(x != 0x1) /\\ true)
"""


def test_everything() -> None:
    test = read_litmus(Source("all", EVERYTHING))
    assert test.info == ('"a test with everything"', "Orig=Fence.w.wdWW Rfe")
    assert test.declarations[1] == Declaration("p", Pointer("z"), "int", pointer=True)
    assert test.declarations[7] == Declaration(Register(1, 9), Pointer("P1:LC00"))
    assert test.harts[0][1] == Statement(Instruction("sw", ("x5", "0(x10)")))
    assert test.harts[1][3] == Statement(Instruction("czero.eqz", ("x1", "x2", "x3")), ("LR", "LC"))
    assert test.condition == And(
        (Or((Equal(Register(1, 10), 1), Equal("z", Pointer("p")))), Not(Not(Equal("x", 1))), And())
    )
    assert read_litmus(Source("again", print_litmus(test))) == test


def places() -> st.SearchStrategy[Place]:
    return st.one_of(st.sampled_from(["x", "y", "ok1"]), st.builds(Register, st.integers(0, 1), st.integers(0, 31)))


def constants() -> st.SearchStrategy[int | Pointer]:
    return st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.just(Pointer("x")))


def propositions() -> st.SearchStrategy[Proposition]:
    def larger(inner: st.SearchStrategy[Proposition]) -> st.SearchStrategy[Proposition]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(st.builds(Not, inner), st.builds(And, several), st.builds(Or, several))

    leaf = st.one_of(st.builds(Equal, places(), constants()), st.just(And()), st.just(Or()))
    return st.recursive(leaf, larger, max_leaves=6)


def statements() -> st.SearchStrategy[tuple[Statement, ...]]:
    instructions = st.sampled_from(
        [Instruction("lw", ("x5", "0(x6)")), Instruction("fence", ("rw", "w")), Instruction("bne", ("x5", "x0", "L0"))]
    )
    return st.lists(
        st.builds(Statement, instructions, st.sampled_from([(), ("L0",), ("L1", "L2")])), min_size=1, max_size=4
    ).map(tuple)


@given(
    st.builds(
        Litmus,
        name=st.sampled_from(["MP", "SB+fence.rw.rw-[rf-fr]+addr"]),
        harts=st.tuples(statements(), statements()),
        declarations=st.lists(
            st.builds(
                Declaration, places(), st.one_of(st.none(), constants()), st.sampled_from([None, "int"]), st.booleans()
            )
        ).map(tuple),
        quantifier=st.sampled_from(["exists", "forall", "~exists"]),
        condition=propositions(),
        locations=st.lists(places(), max_size=2).map(tuple),
        filter=st.one_of(st.none(), propositions()),
        info=st.sampled_from([(), ('"quoted"', "Com=Rf Fr")]),
    )
)
def test_what_is_written_reads_back(test: Litmus) -> None:
    assert read_litmus(Source("emitted", print_litmus(test))) == test


HEAD = "RISCV T\n{ 0:x6=x; 0:x7=y; }\n"
ERRORS = {
    "empty": "",
    "other-architecture": "AArch64 MP\n{}\n",
    "no-name": "RISCV\n{}\n",
    "no-state": "RISCV T\nP0 ;\n",
    "no-program": HEAD + "exists x=1\n",
    "comment": HEAD + "P0 ;\n(* lw x5,0(x6) ;\nexists x=1\n",
    "character": HEAD + "P0 ;\nlw x5,0(x6) $ ;\nexists x=1\n",
    "row-without-end": HEAD + "P0 ;\nlw x5,0(x6)\nexists x=1\n",
    "missing-cell": HEAD + "P0 | P1 ;\nlw x5,0(x6) ;\nexists x=1\n",
    "extra-cell": HEAD + "P0 ;\nlw x5,0(x6) | ;\nexists x=1\n",
    "mnemonic": HEAD + "P0 ;\nlwx x5,0(x6) ;\nexists x=1\n",
    "not-modelled": HEAD + "P0 ;\ncsrrw x5,fcsr,x6 ;\nexists x=1\n",
    "register": HEAD + "P0 ;\nlw x32,0(x6) ;\nexists x=1\n",
    "operands": HEAD + "P0 ;\nlw x5,x6 ;\nexists x=1\n",
    "range": HEAD + "P0 ;\naddi x5,x6,4096 ;\nexists x=1\n",
    "fence-set": HEAD + "P0 ;\nfence wr,rw ;\nexists x=1\n",
    "order": HEAD + "P0 ;\nadd.aq x5,x6,x7 ;\nexists x=1\n",
    "label": HEAD + "P0 ;\nbeqz x5,L1 ;\nL0: ;\nexists x=1\n",
    "label-twice": HEAD + "P0 ;\nL0: nop ;\nL0: nop ;\nexists x=1\n",
    "hart": HEAD + "P0 ;\nlw x5,0(x6) ;\nexists 1:x5=1\n",
    "location": HEAD + "P0 ;\nlw x5,0(x6) ;\nexists z=1\n",
    "type": "RISCV T\n{ uint46_t x; 0:x6=x; }\nP0 ;\nlw x5,0(x6) ;\nexists x=1\n",
    "two-values": "RISCV T\n{ x=1; 0:x6=x; x=2; }\nP0 ;\nlw x5,0(x6) ;\nexists x=1\n",
    "condition": HEAD + "P0 ;\nlw x5,0(x6) ;\nexists x>1\n",
    "no-condition-behind-state": HEAD + "P0 ;\nlw x5,0(x6) ;\nexists (x=1\n",
    "behind-the-end": HEAD + "P0 ;\nlw x5,0(x6) ;\nexists x=1 y\n",
    "constant": HEAD + "P0 ;\nlw x5,0(x6) ;\nexists x=99999999999999999999\n",
    "mixed-widths": HEAD + "P0 ;\nlw x5,0(x6) ;\nsb x5,0(x6) ;\nexists x=1\n",
    "mixed-offsets": HEAD + "P0 ;\nlw x5,0(x6) ;\nsw x5,4(x6) ;\nexists x=1\n",
    "wider-than-type": "RISCV T\n{ int x; 0:x6=x; }\nP0 ;\nld x5,0(x6) ;\nexists x=1\n",
    "no-address": HEAD + "P0 ;\nlw x5,0(x8) ;\nexists x=1\n",
    "read-address": HEAD + "P0 ;\nld x5,0(x6) ;\nlw x8,0(x5) ;\nexists x=1\n",
    "arithmetic": HEAD + "P0 ;\nsll x5,x6,x7 ;\nexists x=1\n",
    "arithmetic-of-what-is-read": "RISCV T\n{ int *p=x; 0:x6=p; }\nP0 ;\nld x5,0(x6) ;\nslli x5,x5,1 ;\nexists "
    "0:x5=1\n",
    "branch-on-what-is-read": "RISCV T\n{ int *p=x; 0:x6=p; }\nP0 ;\nld x5,0(x6) ;\nblt x5,x6,L0 ;\nsd x6,0(x6) ;\n"
    "L0: ;\nexists p=x\n",
    "jump-to-what-is-read": HEAD + "P0 ;\nld x5,0(x6) ;\njr x5 ;\nexists x=1\n",
    "jump": HEAD + "P0 ;\njr x6 ;\nexists x=1\n",
}


def test_messages(golden: Golden) -> None:
    """All in one golden text."""
    shown: list[str] = []
    for name, text in ERRORS.items():
        with pytest.raises(PolyloomError) as error:
            check_text(text, "test.litmus")
        assert error.value.exit_code == 1
        shown.append(f"## {name}\n{error.value}\n")
    golden("errors", "\n".join(shown))


BOUNDS = {
    "stores": (["sw x5,0(x6)"] * 12, 4, "big: more than 1000 candidate executions"),
    "branches": (["lw x5,0(x6)", "bnez x5,L{n}", "nop", "L{n}:"] * 20, 1, "big: more than 1000 candidate executions"),
    "doubled": (["lw x5,0(x6)", *["add x5,x5,x5"] * 60, "sw x5,0(x6)"], 1, "through more than 200 operations"),
    "long": (["lw x5,0(x6)"] * 201, 1, "more than 200 memory operations"),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_on_work(name: str) -> None:
    rows, harts, message = BOUNDS[name]
    program = "".join(" | ".join([row.format(n=n // 4)] * harts) + " ;\n" for n, row in enumerate(rows))
    state = "".join(f"{hart}:x6=x; " for hart in range(harts))
    text = f"RISCV big\n{{ {state}}}\n{' | '.join(f'P{hart}' for hart in range(harts))} ;\n{program}exists x=1\n"
    with pytest.raises(PolyloomError) as error:
        check_text(text, "big.litmus", max_executions=1000)
    assert error.value.exit_code == 3
    assert message in str(error.value)


@given(st.text(alphabet="RISCV T{}();:=|,\n01x5 lwsexist/\\~[]*.-&P", max_size=60))
def test_noise_is_refused_politely(noise: str) -> None:
    for text in (
        noise,
        f"RISCV {noise}",
        HEAD + noise,
        HEAD + f"P0 ;\n{noise}",
        HEAD + f"P0 ;\nlw x5,0(x6) ;\nexists {noise}",
    ):
        try:
            check_text(text)
        except PolyloomError as error:
            assert error.diagnostics[0].help
