# SPDX-License-Identifier: Apache-2.0
"""From the common forms to words of a tile: stages to programs of its three threads, and the oracles of these."""
