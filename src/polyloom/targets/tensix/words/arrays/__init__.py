# SPDX-License-Identifier: Apache-2.0
"""Arrays in L1: formats of datums, tiles, places, and the note of a program that has them."""
