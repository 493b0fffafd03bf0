// SPDX-License-Identifier: Apache-2.0
// What a status means, in English. Nothing else needs this file.
#include "polyloom_plan.h"

typedef struct {
    uint32_t status;
    const char *message;
} Message;

static const Message MESSAGES[] = {
    {POLYLOOM_OK, "done"},
    {POLYLOOM_SCRATCH, "the scratch is too small"},
    {POLYLOOM_OUTPUT, "the output buffer is too small"},
    {POLYLOOM_OVERFLOW, "a number does not fit"},
    {POLYLOOM_AGAIN, "another tiling is planned: instantiate its classes"},
    {POLYLOOM_STOPPED, "a call ended the walk"},
    {501, "a parameter has no value"},
    {502, "there are more values than parameters"},
    {503, "a parameter's value is not from 0 to 2147483647"},
    {504, "the parameters are outside of the program's domain"},
    {505, "the region is empty or larger than the machine"},
    {506, "the tiles do not cover the iteration space or are shorter than a dependence"},
    {510, "no candidate is valid for tiles of this size"},
    {511, "a FIFO is too short"},
    {512, "a kernel class has more successors than a branch has targets"},
    {513, "there are too few control signals"},
    {514, "a domain needs more convex sets, or half-spaces"},
    {515, "a counter or a delay has too few bits"},
    {516, "a functional unit has too few instruction words"},
    {517, "there are too few channels and banks per side"},
    {518, "an address generator has too few dimensions"},
    {519, "an address generator's delay has too few bits"},
    {520, "a bank has too few words"},
    {521, "there are too many steps"},
    {530, "the symbolic configuration contradicts itself"},
    {701, "this is not a symbolic configuration"},
    {702, "the file is truncated"},
    {703, "the file is of a newer format"},
    {704, "the checksum is wrong"},
    {705, "the file is malformed"},
    {706, "a number does not fit its field of the file"},
    {815, "there is no such candidate"},
};

const char *polyloom_status_message(uint32_t status) {
    for (size_t i = 0; i < sizeof MESSAGES / sizeof *MESSAGES; ++i)
        if (MESSAGES[i].status == status) return MESSAGES[i].message;
    return "unknown status";
}
