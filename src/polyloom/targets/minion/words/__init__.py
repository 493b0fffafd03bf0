# SPDX-License-Identifier: Apache-2.0
"""Instruction words of the Minion: tables, the assembler, listings, and what an executable says of itself."""
