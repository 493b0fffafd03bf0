# SPDX-License-Identifier: Apache-2.0
"""Loop nests on Minions."""
