# SPDX-License-Identifier: Apache-2.0
"""Convolutions over channels on the tensor coprocessors of minions, one matrix product per tap."""
