// SPDX-License-Identifier: Apache-2.0
// A union of convex sets: boxes of digits within half-spaces, which the sets share. In a step, `any` says that a set has
// the digits, `two` that two have them. The words of set s: lower bounds, upper bounds, then one with a bit per
// half-space that it needs; those of half-space h, coefficients and constant, stand behind these.
module domain #(
`include "machine.vh"
) (
    input clk, input reset, input load, input [15:0] load_at, input [7:0] load_part, input [31:0] load_word,
    input step, input [DIMS-1:0] grows, input [DIMS*DIGIT-1:0] digits, output reg any, output reg two, output used
);
    reg [SETS*2*DIMS*DIGIT-1:0] bounds;
    reg [SETS*(HALVES+1)-1:0] needs;
    wire [HALVES:0] outside;
    reg contains;
    integer s, m;
    genvar h;
    assign outside[0] = 0;
    // The lowest of the bits of a set says that there is one.
    assign used = |needs;
    generate
        for (h = 0; h < HALVES; h = h + 1) begin : half_spaces
            wire signed [AFFINE-1:0] value;
            affine affine (
                .clk(clk), .reset(reset), .load(load && load_part > 2 * DIMS && load_at == h),
                .load_at(load_part - 8'd1 - 2 * DIMS), .load_word(load_word), .step(step), .grows(grows),
                .value(value));
            assign outside[h+1] = value[AFFINE-1];
        end
    endgenerate
    always @* begin
        any = 0;
        two = 0;
        contains = 0;
        for (s = 0; s < SETS; s = s + 1)
            if (step && needs[s*(HALVES+1)]) begin
                contains = (needs[s*(HALVES+1)+:HALVES+1] & outside) == 0;
                for (m = 0; m < DIMS; m = m + 1)
                    if (digits[DIGIT*m+:DIGIT] < bounds[DIGIT*(2*DIMS*s+m)+:DIGIT]
                        || digits[DIGIT*m+:DIGIT] > bounds[DIGIT*(2*DIMS*s+DIMS+m)+:DIGIT])
                        contains = 0;
                two = two || any && contains;
                any = any || contains;
            end
    end
    always @(posedge clk)
        if (reset) needs <= 0;
        else if (load)
            for (s = 0; s < SETS; s = s + 1)
                if (load_at == s) begin
                    // Places are constants: one that the bus gives would be a shifter of all bits.
                    for (m = 0; m < 2 * DIMS; m = m + 1)
                        if (load_part == m) bounds[DIGIT*(2*DIMS*s+m)+:DIGIT] <= load_word[DIGIT-1:0];
                    if (load_part == 2 * DIMS) needs[(HALVES+1)*s+:HALVES+1] <= load_word[HALVES:0];
                end
endmodule
