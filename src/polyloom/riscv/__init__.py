# SPDX-License-Identifier: Apache-2.0
"""RISC-V for every target that stands on it: one instruction table, an assembler and an interpreter over it, images, a
backend, the best sequences for conditional values, and the memory model."""
