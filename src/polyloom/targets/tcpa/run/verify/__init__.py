# SPDX-License-Identifier: Apache-2.0
"""Static check of symbolic and concrete configurations."""
