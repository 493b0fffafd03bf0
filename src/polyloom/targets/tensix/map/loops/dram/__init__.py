# SPDX-License-Identifier: Apache-2.0
"""Programs whose arrays lie in the memory behind a tile."""
