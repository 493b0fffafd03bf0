# SPDX-License-Identifier: Apache-2.0
"""From functions in SSA form to the belt's member-independent form: what the specializer does before it schedules."""
