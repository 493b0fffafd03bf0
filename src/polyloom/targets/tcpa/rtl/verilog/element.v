// SPDX-License-Identifier: Apache-2.0
// A processing element in its wrapper (docs/targets/tcpa.md, Time): units, registers rd, FIFOs fd and id, outputs od.
// `fault` has a bit for each cause of native/tcpa/model.hpp, in the cycle that the model names.
module element #(
`include "machine.vh"
) (
    input clk, input clear, input reset, input [15:0] index,
    input load, input [3:0] load_kind, input [15:0] load_number, input [7:0] load_unit, input [15:0] load_at,
    input [7:0] load_part, input [31:0] load_word,
    input step, input past, input [SIGNALS-1:0] signals, input ended,
    input [4*CHANNELS*WIRE-1:0] in, output [4*CHANNELS*WIRE-1:0] out,
    output [UNITS-1:0] issue, output [UNITS*(PC+1)-1:0] pc, output [LANES-1:0] done, output [LANES*WORD-1:0] value,
    output halted, output reg [17:0] fault
);
    // What the map of the configuration gives this element; class 0 is an empty tile.
    reg [15:0] tile_class, wrapper_number;
    wire of_class = load && load_number == tile_class && tile_class != 0;
    always @(posedge clk)
        if (clear) {wrapper_number, tile_class} <= 0;
        else if (load && load_kind == 0 && load_number == index) {wrapper_number, tile_class} <= load_word;

    reg started;
    wire on = started || step && !past;
    always @(posedge clk) started <= !reset && on;

    wire [UNITS-1:0] running, outside;
    wire [UNITS*10-1:0] opcode;
    wire [UNITS*DEST-1:0] to;
    wire [UNITS*3*WORD-1:0] operands;
    wire [UNITS*3*REGISTERS-1:0] reads;
    reg [RD*WORD-1:0] general;
    reg [RD-1:0] defined;
    // The numbering of sources: rd, fd, id.
    wire [REGISTERS*WORD-1:0] registers;
    assign registers[0+:RD*WORD] = general;
    wire [LANES-1:0] hit, busy, zero;
    wire [LANES*DEST-1:0] written;
    genvar u, l, f;
    generate
        for (u = 0; u < UNITS; u = u + 1) begin : units
            unit #(.OPERANDS(UNIT_OPERANDS[8*u+:8])) unit (
                .clk(clk), .clear(clear), .reset(reset), .load(of_class && load_kind == 1 && load_unit == u),
                .load_at(load_at[PC-1:0]), .load_part(load_part), .load_word(load_word),
                .on(on), .signals(signals), .registers(registers), .running(running[u]),
                .outside(outside[u]), .issue(issue[u]), .pc(pc[(PC+1)*u+:PC+1]), .opcode(opcode[10*u+:10]),
                .to(to[DEST*u+:DEST]), .operands(operands[3*WORD*u+:3*WORD]),
                .reads(reads[3*REGISTERS*u+:3*REGISTERS]));
        end
        for (l = 0; l < LANES; l = l + 1) begin : lanes
            localparam U = LANE_UNIT[8*l+:8];
            lane #(.KNOWN(LANE_KNOWN[656*l+:656]), .LATENCY(LANE_LATENCY[8*l+:8]), .BLOCKING(LANE_BLOCKING[l])) lane (
                .clk(clk), .reset(reset), .issue(issue[U]), .opcode(opcode[10*U+:10]),
                .operands(operands[3*WORD*U+:3*WORD]), .to(to[DEST*U+:DEST]), .hit(hit[l]), .busy(busy[l]),
                .zero(zero[l]), .done(done[l]), .value(value[WORD*l+:WORD]), .written(written[DEST*l+:DEST]));
        end
    endgenerate

    // All units together: who reads, who pops, who writes, and whether two do so at once.
    reg [FIFOS-1:0] popped, popped_twice;
    reg [RD-1:0] read;
    reg [DEST-1:0] wrote, wrote_twice, taken;
    // Of each destination, the set of lanes that write it, which has one at most, and that lane.
    reg [DEST*LANES-1:0] writers;
    reg [DEST*8-1:0] writer;
    wire [DEST*WORD-1:0] result;
    reg [UNITS-1:0] unit_hit, unit_busy;
    integer n, d;
    always @* begin
        popped = 0;
        popped_twice = 0;
        read = 0;
        unit_hit = 0;
        unit_busy = 0;
        wrote = 0;
        wrote_twice = 0;
        writers = 0;
        writer = 0;
        taken = 0;
        for (n = 0; n < 3 * UNITS; n = n + 1) begin
            popped_twice = popped_twice | popped & reads[REGISTERS*n+RD+:FIFOS];
            popped = popped | reads[REGISTERS*n+RD+:FIFOS];
            read = read | reads[REGISTERS*n+:RD];
        end
        // Of two lanes that write one register the last one does.
        for (n = LANES - 1; n >= 0; n = n - 1) begin
            unit_hit[LANE_UNIT[8*n+:8]] = unit_hit[LANE_UNIT[8*n+:8]] | hit[n];
            unit_busy[LANE_UNIT[8*n+:8]] = unit_busy[LANE_UNIT[8*n+:8]] | busy[n];
            wrote_twice = wrote_twice | wrote & written[DEST*n+:DEST];
            taken = written[DEST*n+:DEST] & ~wrote;
            wrote = wrote | written[DEST*n+:DEST];
            if (taken != 0)
                for (d = 0; d < DEST; d = d + 1)
                    if (taken[d]) begin
                        writers[LANES*d+n] = 1;
                        writer[8*d+:8] = n;
                    end
        end
    end

    generate
        for (f = 0; f < DEST; f = f + 1) begin : results
            selector #(.COUNT(LANES), .WIDTH(WORD), .INDEX(8)) selector (
                .chosen(writers[LANES*f+:LANES]), .index(writer[8*f+:8]), .words(value), .word(result[WORD*f+:WORD]));
        end
    endgenerate

    always @(posedge clk)
        if (reset) defined <= 0;
        else begin
            defined <= defined | wrote[RD-1:0];
            for (n = 0; n < RD; n = n + 1)
                if (wrote[n]) general[WORD*n+:WORD] <= result[WORD*n+:WORD];
        end

    wire [SOURCES*WIRE-1:0] sources;
    wire [SINKS*WIRE-1:0] sinks;
    wire [FIFOS-1:0] live, full, any, push;
    assign sources[OD*WIRE+:4*CHANNELS*WIRE] = in;
    assign out = sinks[ID*WIRE+:4*CHANNELS*WIRE];
    wrapper wrapper (
        .clk(clk), .clear(clear), .load_at(load_at), .load_word(load_word), .sources(sources), .sinks(sinks),
        .load(load && (load_kind == 3 && load_number == wrapper_number || load_kind == 4 && load_number == index)));
    generate
        for (f = 0; f < OD; f = f + 1) begin : outputs
            assign sources[WIRE*f+:WIRE] = {tile_class != 0, wrote[RD+FD+f], result[WORD*(RD+FD+f)+:WORD]};
        end
        for (f = 0; f < FIFOS; f = f + 1) begin : fifos
            localparam SINK = f < FD ? 0 : f - FD, FEEDBACK = f < FD ? RD + f : 0;
            reg [FIFO:0] depth;
            wire [FIFO:0] count;
            wire [WORD-1:0] in_word = f < FD ? result[WORD*FEEDBACK+:WORD] : sinks[WIRE*SINK+:WORD];
            assign live[f] = f < FD || sinks[WIRE*SINK+WORD+1];
            assign push[f] = f < FD ? wrote[FEEDBACK] : sinks[WIRE*SINK+WORD];
            assign full[f] = count > depth;
            assign any[f] = |count;
            fifo fifo (
                .clk(clk), .reset(reset), .push(push[f]), .in(in_word), .pop(popped[f]),
                .head(registers[WORD*(RD+f)+:WORD]), .count(count));
            always @(posedge clk)
                if (clear) depth <= 0;
                else if (of_class && load_kind == 2 && load_at == f) depth <= load_word[FIFO:0];
        end
    endgenerate

    assign halted = running == 0;
    reg collided;
    always @(posedge clk) collided <= !reset && |wrote_twice;
    always @* begin
        fault = 0;
        fault[0] = |full;
        fault[1] = |(popped & ~any & live);
        fault[2] = |popped_twice;
        fault[3] = |(popped & ~any & ~live);
        fault[4] = |(read & ~defined);
        fault[5] = collided;
        fault[7] = |(issue & unit_busy);
        fault[8] = |(issue & ~unit_hit);
        fault[9] = |zero;
        fault[12] = |any && ended;
        fault[13] = |outside;
        fault[14] = step && past && !halted;
    end
endmodule
