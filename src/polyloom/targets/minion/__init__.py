# SPDX-License-Identifier: Apache-2.0
"""The ET-SoC-1 Minion, its tensor coprocessor, and up to a thousand of them."""
