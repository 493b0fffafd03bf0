# SPDX-License-Identifier: Apache-2.0
"""`make dv DV=CHECKOUT`: the public verification tests of the core on the model.

CHECKOUT is one of core-et's branch `erbium`; erbium.txt lists every test that needs one neighbourhood and no other
device, with what is expected: `pass`, or why not. The exit code is 1 where the list and what was found differ.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from tests.targets.minion.dv.regression import read_cases
from tests.targets.minion.dv.run import PASS, run_case

LIST: Final = Path(__file__).with_name("erbium.txt")
_HEAD: Final = """\
# Public verification tests of the core, and what is expected of each: `make dv`. Folder, name, minions, threads, and
# what the list of regressions defines.
# `pass on et-soc-1`: the test has the registers, page tables or memory of ET-SoC-1, and fails on Erbium.
# Those that do not pass:
# - `no source`, PL0151 of a file or an undefined symbol: a program of the checkout would make it.
# - other PL0151: written for GCC and its assembler (naked functions, labels in assembly that is inlined twice, `.irp`
#   without a comma, the vendor's instructions in a macro).
# - devices: erbium_clint_esrs, erbium_clint_msip, erbium_clint_mtip, erbium_plic_interrupt_injc_test,
#   erbium_memory_map_sanity_check, ipi_redirect, neigh_msgs (ports).
# - caches hold no data in the model: cop_dirty_line, cop_scp_ctrl_en_invalidate, and flush_sw, lock_sw and prefetch
#   with SELF_CHECK, which read what is old.
# - REDUCE_ILLEGAL_OP: the test has no other verdict than that a bit of tensor_error is set.
# - RTLMIN-4370 wants the end of 16 GiB of DRAM; csr_write_with_self_check reads mepc back with 48 bits, where the
#   vendor's emulator and the model repeat bit 47; L2_EVICT_REQ is an event that the model does not count.
# - mcode patches instructions (minstmask), which the model only keeps; pma_cacheops takes operations on memory that is
#   absent, which the model refuses; vmemSV39 has page tables, which Erbium has not, and code at addresses that 39 bits
#   do not have on ET-SoC-1.
# - more instructions than the limit: frcp_ex, frsqrt_ex, erbium_mtvec.
"""


def read_list() -> dict[str, str]:
    """Expected outcome of each test."""
    lines = (line.partition(": ") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {title: outcome for title, _, outcome in lines}


def main(arguments: Sequence[str]) -> int:
    root = Path(arguments[0])
    only = [word for word in arguments[1:] if not word.startswith("--")]
    try:
        cases = [case for case in read_cases(root) if not only or any(word in case.title for word in only)]
    except OSError as error:
        print(f"{root} is no checkout of core-et with the branch erbium: {error}", file=sys.stderr)
        return 2
    with ProcessPoolExecutor(2) as pool:
        outcomes: dict[str, str] = {}
        for case, found in zip(cases, pool.map(partial(run_case, root), cases), strict=True):
            outcomes[case.title] = found
            print(f"{case.title}: {found}", flush=True)
    kinds = Counter("pass" if found == PASS else found.split(" ")[0].rstrip(":") for found in outcomes.values())
    print(f"{kinds[PASS]} of {len(outcomes)} pass; " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()))
    if "--update" in arguments:
        LIST.write_text(_HEAD + "".join(f"{title}: {found}\n" for title, found in outcomes.items()), encoding="utf-8")
        return 0
    expected = read_list()
    changed = [title for title, found in outcomes.items() if expected.get(title) != found]
    for title in changed:
        print(f"changed: {title}: {outcomes[title]}, not {expected.get(title, 'in the list')}")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
