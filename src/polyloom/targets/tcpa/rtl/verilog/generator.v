// SPDX-License-Identifier: Apache-2.0
// An address generator: in the steps of its domain, `enable` and the address. `overlap` and `outside` are faults.
module generator #(
`include "machine.vh"
) (
    input clk, input clear, input reset, input load, input [7:0] load_unit, input [15:0] load_at, input [7:0] load_part,
    input [31:0] load_word, input load_extent, input [31:0] interval, input on,
    output enable, output [BANK-1:0] address, output overlap, output outside, output finished
);
    reg ended;
    reg signed [AFFINE-1:0] low, high;
    wire signed [AFFINE-1:0] value;
    wire [DIMS*DIGIT-1:0] digits;
    wire [DIMS-1:0] grows;
    wire pulse, any, two, used;
    pacer pacer (
        .clk(clk), .reset(reset), .load(load && load_unit == 1), .load_word(load_word), .interval(interval),
        .on(on && used && !ended), .pulse(pulse));
    odometer odometer (
        .clk(clk), .clear(clear), .reset(reset), .load(load_extent), .load_at(load_at), .load_word(load_word),
        .step(pulse),
        .digits(digits), .grows(grows));
    domain #(.SETS(GENERATOR_SETS)) domain (
        .clk(clk), .clear(clear), .reset(reset), .load(load && load_unit == 2), .load_at(load_at),
        .load_part(load_part),
        .load_word(load_word), .step(pulse), .grows(grows), .digits(digits), .any(any), .two(two), .used(used));
    affine affine (
        .clk(clk), .clear(clear), .reset(reset), .load(load && load_unit == 0), .load_at(load_part),
        .load_word(load_word),
        .step(pulse), .grows(grows), .value(value));
    assign enable = pulse && any;
    assign address = value[BANK-1:0];
    assign overlap = pulse && two;
    assign outside = enable && (value < low || value > high);
    assign finished = !used || ended;
    always @(posedge clk) begin
        if (reset) ended <= 0;
        else if (pulse && grows == 0) ended <= 1;
        if (load && load_unit == 3) low <= {{AFFINE-32{load_word[31]}}, load_word};
        if (load && load_unit == 4) high <= {{AFFINE-32{load_word[31]}}, load_word};
    end
endmodule
