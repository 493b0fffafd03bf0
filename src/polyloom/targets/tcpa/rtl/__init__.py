# SPDX-License-Identifier: Apache-2.0
"""The array as a circuit: its Verilog, what is written over its configuration bus, and its simulation."""
