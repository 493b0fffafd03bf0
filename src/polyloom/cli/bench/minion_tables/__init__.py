# SPDX-License-Identifier: Apache-2.0
"""Tables of `polyloom bench minion` about compiled programs of many minions."""
