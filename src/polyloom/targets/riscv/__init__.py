# SPDX-License-Identifier: Apache-2.0
"""RISC-V: one instruction table, an assembler and an interpreter over it, and the best sequences for conditional values."""
