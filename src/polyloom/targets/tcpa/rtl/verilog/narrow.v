// SPDX-License-Identifier: Apache-2.0
// The value in the width of an integer type, sign- or zero-extended: the word that registers hold.
module narrow #(
`include "machine.vh"
) (
    input [3:0] kind, input [WORD-1:0] value, output reg [WORD-1:0] word
);
    always @*
        case (kind)
            0: word = {{WORD-8{value[7]}}, value[7:0]};
            1: word = {{WORD-16{value[15]}}, value[15:0]};
            4: word = {{WORD-8{1'b0}}, value[7:0]};
            5: word = {{WORD-16{1'b0}}, value[15:0]};
            7: word = {{WORD-1{1'b0}}, |value};
            default: word = value;
        endcase
endmodule
