/* SPDX-License-Identifier: Apache-2.0 */
int identity(int x);
int main(void) { for (int i = 0; i < 3; i++) identity(i); return 0; }
