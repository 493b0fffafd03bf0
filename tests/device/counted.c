// SPDX-License-Identifier: Apache-2.0
// One instantiation, of a request that is compiled in: a program for emulators that offer no more than an exit.
#include "board.h"
#include "polyloom_instantiate.h"

extern polyloom_request request;

static uint8_t scratch[1 << 20], output[1 << 18];

int main(void) {
    request.scratch = scratch;
    request.scratch_size = sizeof scratch;
    request.output = output;
    request.output_size = sizeof output;
    polyloom_result result;
    return polyloom_instantiate(&request, &result) != POLYLOOM_OK;
}
