// SPDX-License-Identifier: Apache-2.0
// Opcodes of instructions that the gates and several units have to know.
#pragma once

#include <cstdint>

namespace polyloom::tensix {

inline constexpr uint32_t UNPACR = 0x42, UNPACR_NOP = 0x43, SETDVALID = 0x57, SFPLOAD = 0x70, SFPNOP = 0x8f;
inline constexpr uint32_t SFPLOADMACRO = 0x93, WRCFG = 0xb0, RDCFG = 0xb1, SETC16 = 0xb2;

}  // namespace polyloom::tensix
