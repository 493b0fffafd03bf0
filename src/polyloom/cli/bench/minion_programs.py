# SPDX-License-Identifier: Apache-2.0
"""The programs of `polyloom bench minion`: assembly for any number of minions, and their cycles on the model.

Each is run for two counts of repetitions; the difference is free of start and end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from polyloom._native.minion import Chip
from polyloom.targets.minion.run import timing
from polyloom.targets.minion.words import tensor_words as words
from polyloom.targets.minion.words.assemble import assemble_lines

if TYPE_CHECKING:
    from polyloom._native.minion import Result

ENTRY: Final = 0x80_0000_1000
DRAM: Final = 0x80_0100_0000
SCRATCHPAD: Final = 0x8000_0000
_OWN_CREDITS: Final = 0x1_3FF4_00C0
_CREDITS_OF_SHIRE_0: Final = 0x1_0034_00C0
LINE: Final = 64
SHIRE: Final = 32
_MACHINE: Final = {"shires": 32, "l2_kib": 512, "l3_kib": 1024, "scratchpad_kib": 2560}
_START: Final = """
    csrr s0, mhartid
    andi t1, s0, 1
    bnez t1, end
    srli s0, s0, 1
    li t0, 0x6000
    csrs mstatus, t0
    csrwi mcache_control, 1
    csrwi mcache_control, 3
"""
_END: Final = """
end:
    li t0, 0x1FEED000
    csrw validation0, t0
"""
Text = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Measure:
    """Row of a table: what silicon takes, and how the model is asked."""

    what: str
    silicon: float
    unit: str
    model: Callable[[], float]


def run(text: str, minions: int, data: Sequence[tuple[int, bytes]] = ()) -> int:
    """The cycles of a program on hart 0 of each minion; s0 is the minion's number. `data` is in memory before."""
    return _result(text, minions, {"hazards": 0, "functional": 0, "max_cycles": 10**8}, data=data)["cycles"]


def _result(
    text: str, minions: int, options: dict[str, int], start: str = _START, data: Sequence[tuple[int, bytes]] = ()
) -> Result:
    chip = Chip(minions, _MACHINE, timing.parameters(), options)
    for address, content in data:
        chip.write(address, content)
    chip.write(ENTRY, assemble_lines(start + text + _END, ENTRY, "bench.s").data)
    result = chip.run(ENTRY)
    assert result["stop"] == "passed", result
    return result


def scalar(times: int) -> str:
    """Integer arithmetic without memory: ten instructions each time."""
    work = "add s2, s2, s3\nxor s3, s3, s4\nslli s4, s2, 3\nsub s6, s4, s3\nor s7, s6, s2\n"
    return _loop(work + "and s8, s7, s3\nsltu s9, s8, s2\nadd s2, s2, s9\n", times)


def instructions(text: str, *, functional: bool, both: bool = False) -> int:
    """How many a program executes on one hart of a minion, or on both, with hazards on: for the host's speed."""
    options = {"hazards": 1, "functional": int(functional), "max_cycles": 10**9}
    return _result(text, 1, options, "" if both else _START)["instructions"]


def cycles_per_repetition(text: Text, minions: int, few: int, many: int) -> float:
    """Cycles of one repetition of what `text` writes that often."""
    return (run(text(many), minions) - run(text(few), minions)) / (many - few)


def csr(number: int, value: int, x31: int | None = None) -> str:
    """A write of a tensor CSR."""
    return f"{'' if x31 is None else f'li x31, {x31}'}\nli t0, {value}\ncsrw {number}, t0\n"


def tiles(kind: words.Type, *, tenb: bool, own: bool = False) -> Text:
    """Full tiles: A double-buffered and B streamed, or both in L1Scp. `own`: each minion loads tiles of its own."""
    setup = f"""
        li s1, {SCRATCHPAD}
        {"slli t1, s0, 13" if own else ""}
        {"add s1, s1, t1" if own else ""}
        li s2, {words.load(0, 16, 0)}
        or s2, s2, s1
        li s6, {words.load(16, 16, 0x400)}
        or s6, s6, s1
        li s3, {words.load_b(16, 0x800)}
        or s3, s3, s1
        li s4, {words.fma(kind, b=None if tenb else 32)}
        li x31, 64
        csrw tensor_load, s2
        csrwi tensor_wait, 0
    """
    streamed = "csrw tensor_load, s6\ncsrw tensor_load, s3\ncsrw tensor_fma, s4\ncsrwi tensor_wait, 0\n"
    body = streamed if tenb else "csrw tensor_fma, s4\n"
    return lambda times: setup + _loop(body, times) + "csrwi tensor_wait, 7\n"


def loads(lines: int, address: int, step: int) -> Text:
    """Loads of so many lines, one after another, `step` bytes on each time."""
    setup = f"li s2, {words.load(0, lines, address)}\nli s3, {step}\nli x31, 64\n"
    body = "csrw tensor_load, s2\nadd s2, s2, s3\ncsrwi tensor_wait, 0\n"
    return lambda times: setup + body * times


def streams(times: int) -> str:
    """Loads of 16 lines from the own scratchpad, 4 KB for each minion, two of them under way."""
    setup = (
        f"li s2, {words.load(0, 16, SCRATCHPAD)}\nslli t1, s0, 12\nadd s2, s2, t1\nli s3, {words.load(16, 16, 0x400)}\n"
    )
    return f"{setup}add s3, s3, s2\n" + ("li x31, 64\ncsrw tensor_load, s2\nli x31, 65\ncsrw tensor_load, s3\n" * times)


def chase(shire: int, address: int, times: int) -> str:
    """Loads whose address is what the one before has loaded, by minion 0 of a shire; code is in L1I already."""
    return f"li t1, {SHIRE * shire}\nbne s0, t1, end\nli s2, {address}\n" + _loop("ld s2, 0(s2)\n", times)


def allreduce(height: int) -> Text:
    """One register of 2^height minions summed up the tree and sent down, so many times."""
    steps = [csr(0x800, words.reduce(h, 1)) for h in range(height)]
    steps += [csr(0x800, words.broadcast(h, 1)) for h in reversed(range(height))]
    return lambda times: "".join(steps) * times + "csrwi tensor_wait, 9\n"


def barriers(times: int) -> str:
    """All of a shire meet: the last to come gives everyone a credit."""
    setup = f"li s1, {31 << 5}\nli s2, {_OWN_CREDITS}\nli s3, 0xFFFFFFFF\n"
    return setup + _loop("csrrw t1, flb, s1\nbeqz t1, 1f\nsd s3, 0(s2)\n1:\ncsrwi fcc, 0\n", times)


def atomics(address: int, first: int) -> Text:
    """Minions from `first` on add to one word, each again as soon as it has the sum."""
    setup = f"li s1, {address}\nli t1, {first}\nli t3, 1\nblt s0, t1, 5f\n"
    body = "amoaddg.w t2, t3, (s1)\nadd t4, t2, zero\n"
    return lambda times: f"{setup}{_loop(body, times)}5:\n"


def flags(a: int, b: int) -> Text:
    """Minions a and b pass a number to and fro: each writes it to the other's flag, a line of DRAM, and reads its own
    until it is there, by global atomics.
    """
    setup = f"""
        li s1, {DRAM + LINE * a}
        li s2, {DRAM + LINE * b}
        li s3, 1
        li t1, {a}
        beq s0, t1, 4f
        li t1, {b}
        bne s0, t1, 6f
        mv t1, s1
        mv s1, s2
        mv s2, t1
    """
    give, take = "amoswapg.w t2, s3, (s2)\n", "7:\namoorg.w t3, zero, (s1)\nbne t3, s3, 7b\n"
    first, second = f"{give}{take}addi s3, s3, 1\n", f"{take}{give}addi s3, s3, 1\n"

    def text(times: int) -> str:
        return f"{setup}{_loop(second, times)}j 6f\n4:\n{_loop(first, times)}6:\n"

    return text


def chip_barriers(times: int) -> str:
    """All shires meet: the last to come of each adds one to a word in DRAM; who finds that it is the last of all gives
    every shire its credits.
    """
    setup = f"li s1, {31 << 5}\nli s2, {DRAM}\nli s3, 0xFFFFFFFF\nli s4, 31\nli s8, 1\nli s9, {1 << 22}\n"
    body = f"""
        csrrw t1, flb, s1
        beqz t1, 1f
        amoaddg.w t2, s8, (s2)
        bne t2, s4, 1f
        li t3, 32
        li t4, {_CREDITS_OF_SHIRE_0}
        2:
        sd s3, 0(t4)
        add t4, t4, s9
        addi t3, t3, -1
        bnez t3, 2b
        1:
        addi s4, s4, 32
        csrwi fcc, 0
    """
    return setup + _loop(body, times)


def messages(distance: int, registers: int) -> Text:
    """Minions without the bit `distance` in their number send to those that have it, and get it back."""
    setup = f"li s2, {distance}\nand s4, s0, s2\n{_peer(registers)}"
    body = "csrw tensor_reduce, s6\ncsrw tensor_reduce, s7\n"
    turned = "csrw tensor_reduce, s7\ncsrw tensor_reduce, s6\n"

    def text(times: int) -> str:
        return f"{setup}bnez s4, 4f\n{_loop(body, times)}j 5f\n4:\n{_loop(turned, times)}5:\ncsrwi tensor_wait, 9\n"

    return text


def pairs(times: int) -> str:
    """1 KB from each even minion to the next, again and again."""
    setup = f"li s2, 1\nand s4, s0, s2\n{_peer(32)}beqz s4, 4f\nmv s6, s7\n4:\n"
    return setup + _loop("csrw tensor_reduce, s6\n", times) + "csrwi tensor_wait, 9\n"


def _loop(body: str, times: int) -> str:
    return f"li s5, {times}\n3:\n{body}addi s5, s5, -1\nbnez s5, 3b\n"


def _peer(registers: int) -> str:
    """s6 sends to the minion whose number differs in the bits of s2, s7 receives from it."""
    return f"""
        xor s3, s0, s2
        slli s3, s3, 3
        li s6, {words.send(0, registers)}
        or s6, s6, s3
        li s7, {words.receive(0, registers)}
        or s7, s7, s3
    """
