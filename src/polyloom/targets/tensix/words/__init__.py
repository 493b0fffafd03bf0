# SPDX-License-Identifier: Apache-2.0
"""Words of a tile: the tables of instructions and of the configuration, encoder, decoder, listing, static rules; and
arrays as tiles in L1."""
