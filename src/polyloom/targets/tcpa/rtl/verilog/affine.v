// SPDX-License-Identifier: Apache-2.0
// constant + coefficients . digits, without a multiplier: `at[m]` is the value where digit m last changed. The constant
// has a register of its own, from which each run begins.
module affine #(
`include "machine.vh"
) (
    input clk, input clear, input reset, input load, input [7:0] load_at, input [31:0] load_word,
    input step, input [DIMS-1:0] grows, output signed [AFFINE-1:0] value
);
    reg [DIMS*32-1:0] coefficients;
    reg [DIMS*AFFINE-1:0] at;
    reg [AFFINE-1:0] constant, last, change;
    wire [AFFINE-1:0] next = last + change;
    wire [AFFINE-1:0] loaded = {{AFFINE-32{load_word[31]}}, load_word};
    integer m;
    assign value = at[AFFINE-1:0];
    always @* begin
        last = 0;
        change = 0;
        // At most one digit grows, so that a sum of products serves, and one adder.
        for (m = 0; m < DIMS; m = m + 1)
            if (step && grows[m]) begin
                last = last | at[AFFINE*m+:AFFINE];
                change = change | {{AFFINE-32{coefficients[32*m+31]}}, coefficients[32*m+:32]};
            end
    end
    always @(posedge clk)
        if (clear) coefficients <= 0;
        else if (load && load_at == DIMS) constant <= loaded;
        else if (load)
            for (m = 0; m < DIMS; m = m + 1)
                if (load_at == m) coefficients[32*m+:32] <= load_word;
    always @(posedge clk)
        if (reset) at <= {DIMS{constant}};
        else if (step)
            for (m = 0; m < DIMS; m = m + 1) if (grows >> m != 0) at[AFFINE*m+:AFFINE] <= next;
endmodule
