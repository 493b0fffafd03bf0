# SPDX-License-Identifier: Apache-2.0
"""Bare-metal C for minions."""
