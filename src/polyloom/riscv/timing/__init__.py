# SPDX-License-Identifier: Apache-2.0
"""Time of RISC-V programs: classes of instructions, and the in-order core that costs are given for."""
