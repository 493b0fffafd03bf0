// SPDX-License-Identifier: Apache-2.0
// The global controller: `step` in the first cycle of each step, with the control signals of the step until the next
// one. After the last step comes a pulse that is `past` it, which a unit that still runs must not see.
module controller #(
`include "machine.vh"
) (
    input clk, input clear, input reset,
    input load, input [3:0] load_kind, input [15:0] load_number, input [7:0] load_unit, input [15:0] load_at,
    input [7:0] load_part, input [31:0] load_word, input [31:0] interval, input on,
    output step, output past, output [SIGNALS-1:0] signals
);
    reg [31:0] steps;
    // Steps that are left; -1, behind the pulse that is past them, ends all.
    reg [32:0] left;
    reg [SIGNALS-1:0] held;
    wire [SIGNALS-1:0] now;
    wire [DIMS*DIGIT-1:0] digits;
    wire [DIMS-1:0] grows;
    wire scalar = load && load_kind == 5 && load_unit == 0;
    genvar s;
    pacer pacer (
        .clk(clk), .reset(reset), .load(scalar && load_at == 1), .load_word(load_word), .interval(interval),
        .on(on && !left[32]),
        .pulse(step));
    odometer #(.OPEN(1)) odometer (
        .clk(clk), .clear(clear), .reset(reset), .load(load && load_kind == 5 && load_unit == 3), .load_at(load_at),
        .load_word(load_word), .step(step), .digits(digits), .grows(grows));
    generate
        for (s = 0; s < SIGNALS; s = s + 1) begin : domains
            domain domain (
                .clk(clk), .clear(clear), .reset(reset),
                .load(load && load_kind == 5 && load_unit == 2 && load_number == s),
                .load_at(load_at), .load_part(load_part), .load_word(load_word), .step(step), .grows(grows),
                .digits(digits), .any(now[s]), .two(), .used());
        end
    endgenerate
    assign past = left == 0;
    assign signals = step ? now : held;
    always @(posedge clk) begin
        if (scalar && load_at == 4) steps <= load_word;
        if (reset) left <= steps;
        else if (step) left <= left - 1;
        if (step) held <= now;
    end
endmodule
