# SPDX-License-Identifier: Apache-2.0
"""`polyloom llk`: three threads in C++ on a tile, with our own headers; bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.tensix.table.conftest import Call
from tests.targets.tensix.table.conftest import call as _call

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix
from polyloom.targets.tensix.llk.partition import partition_module
from polyloom.targets.tensix.words.numbers import to_bits, to_numbers

pytest.importorskip("ziglang", reason="C needs the extra `c`")
call = _call
EXAMPLES: Final = Path(__file__).parents[4] / "examples" / "llk"
THREADS: Final = ("unpack.cpp", "math.cpp", "pack.cpp")
VECTORS: Final = """\
#include "sfpi.h"
#include "tile.h"
using namespace sfpi;
inline vFloat scaled(vFloat x, float by) { return x * by; }
template <int N>
inline void kernel(int turns) {
    for (int k = 0; k < turns; k++) {
        vFloat x = dst_reg[0];
        v_if (x < 0.0f) { x = scaled(x, 0.25f); }
        v_else { x = scaled(x, 2.0f); }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}
void run_kernel() {
    TTI_SETRWC(0, 0, 0, 0, 0, 15);
    for (unsigned tile = 0; tile < operands::A.tiles; tile++) {
        TTI_SEMWAIT(VECTOR, FILLED, IS_EMPTY);
        for (int face = 0; face < 4; face++) kernel<8>(8);
        TTI_STALLWAIT(SYNC, VECTOR_BUSY);
        TTI_SEMGET(FILLED);
        TTI_SEMPOST(DONE);
    }
}
"""
LAMBDA: Final = (
    VECTORS.replace("template <int N>\ninline void kernel(int turns) {", "constexpr auto kernel = [](int turns) {")
    .replace("}\nvoid run_kernel", "};\nvoid run_kernel")
    .replace("kernel<8>(8)", "kernel(8)")
)
NOTHING: Final = "void run_kernel() {}\n"
WAIT: Final = (
    '#include "tile.h"\nvoid run_kernel() {{\n    TTI_SEMWAIT(SYNC, {0}, IS_EMPTY);\n    TTI_SEMGET({0});\n}}\n'
)
"""Of a ring of three threads, each behind what another posts too late."""
WAITS: Final = '#include "tile.h"\nvoid run_kernel() { TTI_SEMWAIT(SYNC, DONE, IS_EMPTY); TTI_SEMGET(DONE); }\n'
WRONG: Final = {
    "missing-include": "missing.cpp nothing.cpp nothing.cpp",
    "other-architecture": "other.cpp nothing.cpp nothing.cpp -I checkout",
    "shape": "nothing.cpp --in A:bf16=odd.npy",
    "overlap": "nothing.cpp --in A@0x20100:bf16=a.npy --in B@0x20200:bf16=a.npy",
    "programs": "nothing.cpp --in A@0x1000:bf16=a.npy",
    "behind-l1": "nothing.cpp --in A@0x16ff00:bf16=a.npy",
    "unaligned": "nothing.cpp --in A@0x20008:bf16=a.npy",
    "no-format": "nothing.cpp --in A:bf61=a.npy",
    "no-name": "nothing.cpp --in 0x20000=a.npy",
    "no-size": "nothing.cpp --out C:bf16=c.npy",
    "two-files": "nothing.cpp nothing.cpp",
    "no-entry": "entry.cpp nothing.cpp nothing.cpp",
    "undefined": "undefined.cpp nothing.cpp nothing.cpp",
    "too-large": "large.cpp nothing.cpp nothing.cpp",
    "deadlock": "nothing.cpp nothing.cpp waits.cpp",
    "deadlock-of-three": "wait0.cpp wait1.cpp wait2.cpp",
    "shape-of-tiles": "nothing.cpp --in A:bf16=narrow.npy",
    "no-folder": "missing.cpp nothing.cpp nothing.cpp -I nowhere",
    "hazard": "nothing.cpp hazard.cpp nothing.cpp",
    "other-target": "nothing.cpp --on riscv",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in EXAMPLES.iterdir():
        shutil.copy(path, tmp_path)
    texts = {
        "nothing.cpp": NOTHING,
        "waits.cpp": WAITS,
        **{f"wait{k}.cpp": WAIT.format(name) for k, name in enumerate(("1 << 7", "FILLED", "DONE"))},
        "hazard.cpp": '#include "tile.h"\nvoid run_kernel() {\n    TTI_SFPLOAD(0, 2, 2, 0);\n}\n',
        "missing.cpp": '#include "ckernel_of_mine.h"\n' + NOTHING,
        "other.cpp": '#include "only_there.h"\n' + NOTHING,
        "entry.cpp": "void run() {}\n",
        "undefined.cpp": "void outside();\nvoid run_kernel() { outside(); }\n",
        "large.cpp": "volatile int table[4000] = {1};\nvoid run_kernel() { table[3] = 1; }\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    for library in ("tt_llk_wormhole_b0", "tt_llk_blackhole"):
        Path("checkout", library, "llk_lib").mkdir(parents=True)
    Path("checkout/tt_llk_blackhole/llk_lib/only_there.h").touch()
    np.save("a.npy", np.arange(1024, dtype=np.float32).reshape(32, 32) / 64)
    np.save("odd.npy", np.zeros((5, 7), np.float32))
    np.save("narrow.npy", np.zeros((2, 32, 24), np.float32))


def test_three_threads_and_what_json_tells(call: Call) -> None:
    words = ("--in", "A:bf16=a.npy", "--out", "C:bf16=c.npy", "--on", "tensix")
    status, out, err = call("llk", *THREADS, *words, "--trace", "t.json", "--report", "r.html", "--json")
    found = json.loads(out)
    assert (status, err, found["stop"], found["hazards"]) == (0, "", "idle", [])
    given = to_numbers("bf16", to_bits("bf16", np.load("a.npy"), "A"))
    np.testing.assert_array_equal(np.load("c.npy"), 2 * given)
    first, second = found["operands"]
    assert (first["name"], second["name"], first["tiles"]) == ("A", "C", 1) and first["end"] < second["address"]
    assert {"t0", "t1", "t2"} <= found["cores"].keys() and found["utilization"]["vector"] > 0
    assert json.loads(Path("t.json").read_text())["traceEvents"] and "</html>" in Path("r.html").read_text()


@pytest.mark.parametrize("text", [VECTORS, LAMBDA], ids=["template", "lambda"])
def test_vector_functions_of_the_math_thread_beside_words(text: str) -> None:
    """A template or a lambda over a helper of vectors becomes code of its own, which the loop of words calls."""
    Path("vectors.cpp").write_text(text, encoding="utf-8")
    given = np.linspace(-4, 4, 2048, dtype=np.float32).reshape(2, 32, 32)
    found = tensix.llk("unpack.cpp", "vectors.cpp", "pack.cpp", inputs={"A:bf16": given}, outputs=["C:bf16"])
    held = to_numbers("bf16", to_bits("bf16", given, "A"))
    np.testing.assert_array_equal(found.outputs["C"], np.where(held < 0, held * np.float32(0.25), held * 2))


def test_matrices_lie_in_l1_tile_after_tile() -> None:
    given = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)
    found = tensix.llk(*THREADS, inputs={"A:bf16": given}, outputs={"C:bf16": None})
    assert found.operands[0].tiles == 6
    np.testing.assert_array_equal(
        found.outputs["C"], 2 * to_numbers("bf16", to_bits("bf16", given, "A")).reshape(64, 96)
    )


@pytest.mark.parametrize("name", WRONG)
def test_bad_input(call: Call, golden: Golden, tmp_path: Path, name: str) -> None:
    words = WRONG[name].split()
    status, out, err = call("llk", *words, *(() if "--on" in words else ("--on", "tensix")))
    assert status in (1, 2)
    golden(name, f"$ polyloom llk {WRONG[name]}\n{out}{err}[{status}]\n".replace(f"{tmp_path}/", ""))


def test_a_deadlock_is_raised_in_python_and_can_be_looked_at() -> None:
    words = ("nothing.cpp", "nothing.cpp", "waits.cpp")
    with pytest.raises(PolyloomError, match=r"t2 \(pack\)"):
        tensix.llk(*words)
    assert tensix.llk(*words, check=False).outcome.stop == "deadlock"


def test_partition_keeps_scalar_callers_out_of_the_vector_module() -> None:
    """The call graph: words <- outer <- inner(vector) <- helper(takes vectors)."""
    helper = "define linkonce_odr ptr addrspace(1) @helper(ptr addrspace(1) %x) #0 {\n  ret ptr addrspace(1) %x\n}\n"
    inner = (
        "define linkonce_odr void @inner(i32 %n) #0 {\n  %v = call ptr addrspace(1) @__sfpi_splat(i32 %n)\n"
        "  %w = call ptr addrspace(1) @helper(ptr addrspace(1) %v)\n  ret void\n}\n"
    )
    outer = "define void @outer() #0 {\n  call void @inner(i32 1)\n  call void @__sfpi_word(i32 5)\n  ret void\n}\n"
    declared = "declare ptr addrspace(1) @__sfpi_splat(i32)\ndeclare void @__sfpi_word(i32)\n"
    found = partition_module(f"{helper}{inner}{outer}{declared}attributes #0 = {{ noinline nounwind }}\n")
    assert found.names == ("inner",)
    assert "define void @inner" in found.vectors and "@outer" not in found.vectors
    assert "declare void @inner(i32)" in found.rest and "define void @outer" in found.rest
