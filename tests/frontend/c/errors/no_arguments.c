/* SPDX-License-Identifier: Apache-2.0 */
static float total;
void nothing(void) { for (int i = 0; i < 3; i++) total += 1.0f; }
