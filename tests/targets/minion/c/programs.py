# SPDX-License-Identifier: Apache-2.0
"""Programs in C, and their runs on the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.cli import main

VECTORS = """\
#include <minion.h>
enum { N = 40 };
float in[N][8], out[16][8];
int index[8];
uint64_t words[8], half[2];
uint16_t halves[8];

__attribute__((noinline)) et_f32x8 twice(et_f32x8 x) { return et_fadd_ps(x, x); }

int main(void) {
    et_f32x8 all[N], sum = et_set_f32x8(0);
    // More values than registers.
    for (int k = 0; k < N; k++) all[k] = et_load_f32x8(in[k]);
    for (int k = 0; k < N; k++) sum = et_fmadd_ps(all[k], all[N - 1 - k], sum);
    et_store_f32x8(out[0], sum);
    et_f32x8 a = all[0], b = all[1];
    et_store_f32x8(out[1], et_fsub_ps(twice(a), b));
    et_store_f32x8(out[2], et_fmsub_ps(a, b, sum));
    et_set_lanes(0x35);
    et_store_f32x8(out[3], a);
    et_f32x8 kept = et_fmul_ps_masked(a, a, b);
    et_set_lanes(0xff);
    et_store_f32x8(out[4], kept);
    et_fltm_ps(2, a, b);
    words[0] = et_mova_x_m() >> 16 & 255;
    et_i32x8 at = et_load_i32x8(index);
    et_store_f32x8(out[5], et_fgw_ps(at, in));
    et_fscw_ps(a, at, out[6]);
    words[1] = (uint64_t)et_amocmpswapl_d(77, &words[2], 5);
    words[3] = (uint64_t)et_amocmpswapl_d(78, &words[2], 6);
    et_store_i32x8((int *)out[8], et_flt_ps(a, b));
    et_i32x8 h = et_fcvt_f16_ps(a);
    et_store_f32x8(out[9], et_fcvt_ps_f16(h));
    et_store_i32x8((int *)out[10], et_fslli_pi(et_faddi_pi(at, -7), 3));
    et_store_f32x8(out[11], et_fswizz_ps(a, 0x1b));
    words[4] = et_fmvz_x_ps(a, 5);
    et_store_f32x8(out[12], et_fcmov_ps(et_flt_ps(a, b), a, b));
    return 0;
}
"""

FLOATS = """\
enum { N = 96 };
float a[N], b[N], sums[N], differences[N], products[N], quotients[N], longs[N], fused[N];
int less[N], equal[N], whole[N];
long wide[N], in[N];
float fmaf(float, float, float);
int main(void) {
    for (int k = 0; k < N; k++) {
        sums[k] = a[k] + b[k];
        differences[k] = a[k] - b[k];
        products[k] = a[k] * b[k];
        quotients[k] = a[k] / b[k];
        fused[k] = fmaf(a[k], b[k], 1.0f);
        less[k] = (a[k] < b[k]) | (a[k] <= b[k]) << 1 | (a[k] > b[k]) << 2 | (a[k] >= b[k]) << 3;
        equal[k] = (a[k] == b[k]) | (a[k] != b[k]) << 1;
        longs[k] = (float)in[k];
        wide[k] = (long)a[k];
        whole[k] = (int)a[k];
    }
    return 0;
}
"""

SHIRE = """\
#include <minion.h>
enum { HARTS = 64 };
_Alignas(64) uint64_t seen[HARTS][8];
uint64_t sum;
static int join(void) {
    seen[get_hart_id()][0] = get_hart_id() + 1;
    et_flush(to_L2, seen[get_hart_id()], 64);
    shire_barrier(3, FCC_1, HARTS, 0xffffffff, 0xffffffff);
    if (get_hart_id() == 7)
        for (int k = 0; k < HARTS; k++) sum += seen[k][0];
    return 0;
}
int main(void) { return join(); }
int thread1(void) { return join(); }
"""

PRODUCT = """\
#include <minion.h>
extern "C" uint64_t doubled(uint64_t);
alignas(64) float a[16][16], b[16][16], c[16][16];
uint64_t answer;
int main() {
    tensor_load(false, false, 0, 0, 0, (uint64_t)a, 0, 15, 64, 0);
    tensor_load_setup_b(false, (uint64_t)b, 15, 64, 1);
    tensor_wait(TENSOR_LOAD_WAIT_0);
    tensor_fma(false, 3, 15, 15, 0, false, false, false, true, 0, 0, ET_FMA32, true);
    tensor_store(0, 0, 3, 15, (uint64_t)c, 0, 64);
    tensor_wait(TENSOR_FMA_WAIT);
    tensor_wait(TENSOR_STORE_WAIT);
    answer = doubled(21);
    et_print("done\\n");
    return get_tensor_error() != 0;
}
"""

DOUBLED = """\
# A function in assembly, with the vendor's instructions.
    .globl doubled
doubled:
    fbcx.ps f0, a0
    fadd.pi f0, f0, f0
    fmvz.x.ps a0, f0, 3
    ret
"""


def run_c(
    folder: Path,
    sources: dict[str, str],
    inputs: dict[str, NDArray[Any]],
    outputs: dict[str, str],
    on: str = "minion",
    *words: str,
) -> dict[str, NDArray[Any]]:
    """Arrays after a run, by their names; `outputs` are shapes and types."""
    for name, text in sources.items():
        (folder / name).write_text(text)
    program = str(folder / "program.elf")
    assert main(["cc", *(str(folder / name) for name in sources), "-o", program, "--on", on, *words]) == 0
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
    given = [word for name in inputs for word in ("--in", f"{name}={folder}/{name}.npy")]
    wanted = [word for name, kind in outputs.items() for word in ("--out", f"{name}={folder}/out_{name}.npy:{kind}")]
    assert main(["simulate", program, "--on", on, "--hazards", "error", *given, *wanted]) == 0
    return {name: np.load(folder / f"out_{name}.npy") for name in outputs}
