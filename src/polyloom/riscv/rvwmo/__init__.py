# SPDX-License-Identifier: Apache-2.0
"""The RISC-V weak memory order model, RVWMO: which final states of a litmus test are allowed."""

from polyloom.riscv.rvwmo.check import Verdict, check, judge

__all__ = ["Verdict", "check", "judge"]
