# SPDX-License-Identifier: Apache-2.0
"""Bare-metal C for minions: headers, start-up, linker script, and the vendor's instructions in clang's assembly."""
