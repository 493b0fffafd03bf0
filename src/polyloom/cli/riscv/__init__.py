# SPDX-License-Identifier: Apache-2.0
"""Verbs of RISC-V: the entry of the target names them."""
