# SPDX-License-Identifier: Apache-2.0
"""Phase splitting: phases that do not fit become several ones."""
