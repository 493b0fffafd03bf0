// SPDX-License-Identifier: Apache-2.0
// A bank at a border port, with a generator that reads and one that writes. The reader works two cycles ahead, because
// its memory takes one and the wire into a register another; its faults are reported in the cycle that it works for.
module bank #(
`include "machine.vh"
) (
    input clk, input clear, input reset, input [15:0] index,
    input load, input [3:0] load_kind, input [15:0] load_number, input [7:0] load_unit, input [15:0] load_at,
    input [7:0] load_part, input [31:0] load_word, input [31:0] interval, input ahead, input on,
    input [WIRE-1:0] in, output [WIRE-1:0] out,
    output write, output [BANK-1:0] address, output [WORD-1:0] value, output finished, output reg [17:0] fault
);
    reg [WORD-1:0] memory [0:(1<<BANK)-1], read, token;
    reg arrived, valid;
    reg [2:0] first, second;
    wire fill = load && load_kind == 7 && load_number == index;
    wire extent = load && load_kind == 5 && load_unit == 1;
    wire reads, read_overlap, read_outside, read_finished, write_overlap, write_outside, write_finished, read_used;
    wire [BANK-1:0] read_address;
    reg used;
    generator reader (
        .clk(clk), .clear(clear), .reset(reset), .load(load && load_kind == 6 && load_number == 2 * index),
        .load_unit(load_unit),
        .load_at(load_at), .load_part(load_part), .load_word(load_word), .load_extent(extent), .interval(interval),
        .on(ahead), .enable(reads), .address(read_address), .overlap(read_overlap), .outside(read_outside),
        .finished(read_finished));
    generator writer (
        .clk(clk), .clear(clear), .reset(reset), .load(load && load_kind == 6 && load_number == 2 * index + 1),
        .load_unit(load_unit), .load_at(load_at), .load_part(load_part), .load_word(load_word),
        .load_extent(extent), .interval(interval), .on(on), .enable(write), .address(address),
        .overlap(write_overlap), .outside(write_outside), .finished(write_finished));
    assign out = {used, valid, read};
    assign value = token;
    assign finished = read_finished && write_finished;
    always @(posedge clk) begin
        if (fill || write) memory[fill ? {load_unit, load_at} : address] <= fill ? load_word : token;
        if (reads) read <= memory[read_address];
        token <= in[WORD-1:0];
        if (clear) used <= 0;
        else if (load && load_kind == 6 && load_number == 2 * index) used <= load_unit != 5;
        if (reset) {arrived, valid, first, second} <= 0;
        else begin
            arrived <= in[WORD];
            valid <= reads;
            first <= {reads, read_overlap, read_outside};
            second <= first;
        end
    end
    always @* begin
        fault = 0;
        fault[6] = second[2] && write;
        fault[10] = arrived && !write;
        fault[11] = write && !arrived;
        fault[15] = second[0] || write_outside;
        fault[17] = second[1] || write_overlap;
    end
endmodule
