// SPDX-License-Identifier: Apache-2.0
// What the firmware asks of its board. board_linux.c is a stub of one, for an emulator.
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint8_t flash[];  // a symbolic configuration, as `polyloom compile` wrote it
extern const size_t flash_size;

bool mailbox_receive(uint32_t* word);  // the next word from the host; false once there will be none
void array_write(uint32_t word);       // the next word into the configuration port of the array
_Noreturn void board_stop(int code);

int main(void);

#endif
