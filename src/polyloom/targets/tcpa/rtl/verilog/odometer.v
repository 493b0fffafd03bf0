// SPDX-License-Identifier: Apache-2.0
// The digits of a step, innermost first. In a step, `grows` names the digit that counts up, below which all become 0. An
// extent that is not loaded has no end where OPEN, else its digit stays 0.
module odometer #(
`include "machine.vh"
    , parameter OPEN = 0
) (
    input clk, input clear, input reset, input load, input [15:0] load_at, input [31:0] load_word, input step,
    output reg [DIMS*DIGIT-1:0] digits, output reg [DIMS-1:0] grows
);
    reg [DIMS*DIGIT-1:0] extents;
    reg carry;
    integer m;
    always @* begin
        carry = 1;
        grows = 'bx;
        if (step)
        for (m = 0; m < DIMS; m = m + 1) begin
            grows[m] = carry && {1'b0, digits[DIGIT*m+:DIGIT]} + 1 < {1'b0, extents[DIGIT*m+:DIGIT]};
            carry = carry && !grows[m];
        end
    end
    always @(posedge clk)
        if (clear) extents <= {DIMS*DIGIT{OPEN != 0}};
        else if (load)
            for (m = 0; m < DIMS; m = m + 1)
                if (load_at == m) extents[DIGIT*m+:DIGIT] <= load_word[DIGIT-1:0];
    always @(posedge clk)
        if (reset) digits <= 0;
        else if (step)
            for (m = 0; m < DIMS; m = m + 1)
                if (grows[m]) digits[DIGIT*m+:DIGIT] <= digits[DIGIT*m+:DIGIT] + 1;
                else if (grows >> m != 0 || grows == 0) digits[DIGIT*m+:DIGIT] <= 0;
endmodule
