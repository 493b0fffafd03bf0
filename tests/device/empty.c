// SPDX-License-Identifier: Apache-2.0
#include "board.h"

int main(void) { return 0; }
