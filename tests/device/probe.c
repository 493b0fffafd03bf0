// SPDX-License-Identifier: Apache-2.0
// Every call of the library, for its size; empty.c has none. What statuses mean is left out, as firmware can.
#include "board.h"
#include "polyloom_instantiate.h"

#define ADDRESS(call) ((const void *)(uintptr_t)(call))

const void *const volatile entries[] = {
    ADDRESS(polyloom_instantiate), ADDRESS(polyloom_plan), ADDRESS(polyloom_class),
    ADDRESS(polyloom_merge),       ADDRESS(polyloom_emit), ADDRESS(polyloom_query),
};

int main(void) { return entries[0] != NULL; }
