// SPDX-License-Identifier: Apache-2.0
// A union of convex sets: boxes of digits within half-spaces, which the sets share. In a step, `any` says that a set has
// the digits, `two` that two have them. The words of set s: lower bounds, upper bounds, then one with a bit per
// half-space that it needs; those of half-space h, coefficients and constant, stand behind these.
module domain #(
`include "machine.vh"
) (
    input clk, input clear, input reset, input load, input [15:0] load_at, input [7:0] load_part,
    input [31:0] load_word,
    input step, input [DIMS-1:0] grows, input [DIMS*DIGIT-1:0] digits, output reg any, output reg two, output used
);
    reg [SETS*(HALVES+1)-1:0] needs;
    wire [HALVES:0] outside;
    wire [SETS*DIMS-1:0] misses;
    reg contains;
    integer s, m;
    genvar h, d;
    assign outside[0] = 0;
    // The lowest of the bits of a set says that there is one.
    assign used = |needs;
    generate
        for (h = 0; h < HALVES; h = h + 1) begin : half_spaces
            wire signed [AFFINE-1:0] value;
            affine affine (
                .clk(clk), .clear(clear), .reset(reset), .load(load && load_part > 2 * DIMS && load_at == h),
                .load_at(load_part - 8'd1 - 2 * DIMS), .load_word(load_word), .step(step), .grows(grows),
                .value(value));
            assign outside[h+1] = value[AFFINE-1];
        end
        for (d = 0; d < DIMS; d = d + 1) begin : dimensions
            reg [DIGIT-1:0] low [0:SETS-1], high [0:SETS-1];
            reg [SETS-1:0] misses_digit;
            wire [DIGIT-1:0] digit = digits[DIGIT*d+:DIGIT];
            integer n;
            assign misses[SETS*d+:SETS] = misses_digit;
            always @* begin
                misses_digit = 0;
                if (step)
                    for (n = 0; n < SETS; n = n + 1)
                        if (digit < low[n] || digit > high[n]) misses_digit[n] = 1;
            end
            always @(posedge clk)
                if (load) begin
                    if (load_part == d) low[load_at] <= load_word[DIGIT-1:0];
                    if (load_part == DIMS + d) high[load_at] <= load_word[DIGIT-1:0];
                end
        end
    endgenerate
    always @* begin
        any = 0;
        two = 0;
        contains = 'bx;
        for (s = 0; s < SETS; s = s + 1)
            if (step && needs[s*(HALVES+1)]) begin
                contains = (needs[s*(HALVES+1)+:HALVES+1] & outside) == 0;
                for (m = 0; m < DIMS; m = m + 1)
                    if (misses[SETS*m+s]) contains = 0;
                two = two || any && contains;
                any = any || contains;
            end
    end
    always @(posedge clk)
        if (clear) needs <= 0;
        else if (load && load_part == 2 * DIMS)
            // Places are constants: one that the bus gives would be a shifter of all bits.
            for (s = 0; s < SETS; s = s + 1)
                if (load_at == s) needs[(HALVES+1)*s+:HALVES+1] <= load_word[HALVES:0];
endmodule
