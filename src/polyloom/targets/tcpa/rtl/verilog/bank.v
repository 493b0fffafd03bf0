// SPDX-License-Identifier: Apache-2.0
// A bank at a border port, with a generator that reads or writes, as its words say. A reader works two cycles ahead,
// because its memory takes one and the wire into a register another; its faults are reported in the cycle that it works
// for.
module bank #(
`include "machine.vh"
) (
    input clk, input clear, input reset, input [15:0] index,
    input load, input [3:0] load_kind, input [15:0] load_number, input [7:0] load_unit, input [15:0] load_at,
    input [7:0] load_part, input [31:0] load_word, input [31:0] interval, input ahead, input on,
    input [WORD-1:0] in, input in_token, output [WORD-1:0] out, output out_token, output drives,
    output write, output [31:0] address, output [WORD-1:0] value, output finished, output reg [31:0] fault
);
    // It is read or written in a run, not both.
    (* no_rw_check *) reg [WORD-1:0] memory [0:(1<<BANK)-1];
    reg [WORD-1:0] read, token;
    reg arrived, valid, used, writes;
    wire [BANK-1:0] place;
    assign address = place;
    reg [1:0] first, second;
    wire enable, overlap, outside;
    wire fill = load && load_kind == 7 && load_number == index;
    wire own = load && load_kind == 6 && load_number[15:1] == index[14:0];
    wire read_next = enable && !writes;
    generator generator (
        .clk(clk), .clear(clear), .reset(reset), .load(own), .load_unit(load_unit), .load_at(load_at),
        .load_part(load_part), .load_word(load_word), .load_extent(load && load_kind == 5 && load_unit == 1),
        .interval(interval), .on(writes ? on : ahead), .enable(enable), .address(place), .overlap(overlap),
        .outside(outside), .finished(finished));
    assign write = enable && writes;
    assign out = read;
    assign out_token = valid;
    assign drives = used;
    assign value = token;
    always @(posedge clk) begin
        if (fill || write) memory[fill ? {load_unit, load_at} : place] <= fill ? load_word : token;
        if (read_next) read <= memory[place];
        token <= in;
        // The lowest bit of the number says which of the two the generator does; a word of unit 5, that it does neither.
        if (clear) {used, writes} <= 0;
        else if (own) {used, writes} <= {!load_number[0] && load_unit != 5, load_number[0]};
        if (reset) {arrived, valid, first, second} <= 0;
        else begin
            arrived <= in_token;
            valid <= read_next;
            first <= writes ? 0 : {overlap, outside};
            second <= first;
        end
    end
    always @* begin
        fault = 0;
        fault[10] = arrived && !write;
        fault[11] = write && !arrived;
        fault[15] = second[0] || writes && outside;
        fault[17] = second[1] || writes && overlap;
    end
endmodule
