# SPDX-License-Identifier: Apache-2.0
"""Words of programs: instruction tables, the assembler, listings, and what an executable says of itself."""
