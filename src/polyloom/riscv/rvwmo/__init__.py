# SPDX-License-Identifier: Apache-2.0
"""RVWMO checker: which final states of a litmus test the RISC-V weak memory ordering model allows (RISC-V unprivileged
manual, chapter "RVWMO Memory Consistency Model").
"""

from polyloom.riscv.rvwmo.check import Verdict, check_text, judge

__all__ = ["Verdict", "check_text", "judge"]
