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
    input [4*CHANNELS*WORD-1:0] in, input [8*CHANNELS-1:0] in_flags,
    output [4*CHANNELS*WORD-1:0] out, output [8*CHANNELS-1:0] out_flags,
    output [UNITS-1:0] issue, output [UNITS*16-1:0] pc, output [LANES-1:0] done, output [LANES*WORD-1:0] value,
    output halted, output reg [31:0] fault
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
    wire [DEST-1:0] to [0:UNITS-1];
    wire [3*WORD-1:0] operands [0:UNITS-1];
    wire [REGISTERS-1:0] reads [0:UNITS-1], reads_twice [0:UNITS-1];
    reg [RD*WORD-1:0] general;
    reg [RD-1:0] defined;
    // The numbering of sources: rd, fd, id.
    wire [REGISTERS*WORD-1:0] registers;
    assign registers[0+:RD*WORD] = general;
    wire [LANES-1:0] hit, busy, zero;
    wire [DEST-1:0] written [0:LANES-1];
    genvar u, l, f;
    generate
        for (u = 0; u < UNITS; u = u + 1) begin : units
            unit #(.OPERANDS(UNIT_OPERANDS[8*u+:8])) unit (
                // An element that loses its class loses its programs, which no word of a class could take back.
                .clk(clk), .clear(clear || tile_class == 0), .reset(reset),
                .load(of_class && load_kind == 1 && load_unit == u),
                .load_at(load_at[PC-1:0]), .load_part(load_part), .load_word(load_word),
                .on(on), .signals(signals), .registers(registers), .running(running[u]),
                .outside(outside[u]), .issue(issue[u]), .pc(pc[16*u+:PC+1]), .opcode(opcode[10*u+:10]),
                .to(to[u]), .operands(operands[u]), .read(reads[u]), .read_twice(reads_twice[u]));
            if (PC < 15) assign pc[16*u+15:16*u+PC+1] = 0;
        end
        for (l = 0; l < LANES; l = l + 1) begin : lanes
            localparam U = LANE_UNIT[8*l+:8];
            lane #(.KNOWN(LANE_KNOWN[656*l+:656]), .LATENCY(LANE_LATENCY[8*l+:8]), .BLOCKING(LANE_BLOCKING[l])) lane (
                .clk(clk), .reset(reset), .issue(issue[U]), .opcode(opcode[10*U+:10]),
                .operands(operands[U]), .to(to[U]), .hit(hit[l]), .busy(busy[l]),
                .zero(zero[l]), .done(done[l]), .value(value[WORD*l+:WORD]), .written(written[l]));
        end
    endgenerate

    // All units together: who reads, who pops, who writes, and whether two do so at once.
    reg [REGISTERS-1:0] read, read_twice;
    reg [DEST-1:0] wrote, wrote_twice;
    wire [DEST*WORD-1:0] result;
    reg [UNITS-1:0] unit_hit, unit_busy;
    integer n;
    always @* begin
        read = 0;
        read_twice = 0;
        for (n = 0; n < UNITS; n = n + 1) begin
            read_twice = read_twice | reads_twice[n] | read & reads[n];
            read = read | reads[n];
        end
        unit_hit = 0;
        unit_busy = 0;
        wrote = 0;
        wrote_twice = 0;
        for (n = 0; n < LANES; n = n + 1) begin
            unit_hit[LANE_UNIT[8*n+:8]] = unit_hit[LANE_UNIT[8*n+:8]] | hit[n];
            unit_busy[LANE_UNIT[8*n+:8]] = unit_busy[LANE_UNIT[8*n+:8]] | busy[n];
            wrote_twice = wrote_twice | wrote & written[n];
            wrote = wrote | written[n];
        end
    end
    wire [FIFOS-1:0] popped = read[REGISTERS-1:RD];

`ifdef SYNTHESIS
    generate
        for (f = 0; f < DEST; f = f + 1) begin : results
            // Lanes that write the destination: one at most, for of two the next cycle has a fault.
            wire [LANES-1:0] writers;
            for (l = 0; l < LANES; l = l + 1) begin : lane_writes
                assign writers[l] = written[l][f];
            end
            selector #(.COUNT(LANES), .WIDTH(WORD), .INDEX(1)) selector (
                .chosen(writers), .index(1'b0), .words(value), .word(result[WORD*f+:WORD]));
        end
    endgenerate
`else
    // The same for a simulator: most lanes write nothing.
    reg [DEST*WORD-1:0] results;
    integer d;
    assign result = results;
    always @* begin
        results = 0;
        for (n = 0; n < LANES; n = n + 1)
            if (written[n] != 0)
                for (d = 0; d < DEST; d = d + 1)
                    if (written[n][d]) results[WORD*d+:WORD] = value[WORD*n+:WORD];
    end
`endif

    always @(posedge clk)
        if (reset) defined <= 0;
        else if (wrote[RD-1:0] != 0) begin
            defined <= defined | wrote[RD-1:0];
            for (n = 0; n < RD; n = n + 1)
                if (wrote[n]) general[WORD*n+:WORD] <= result[WORD*n+:WORD];
        end

    wire [SOURCES*WORD-1:0] sources;
    wire [SOURCES-1:0] source_tokens, source_driven;
    wire [SINKS*WORD-1:0] sinks;
    wire [SINKS-1:0] sink_tokens, sink_driven;
    wire [FIFOS-1:0] full, any, push, live;
    assign sources = {in, result[WORD*(RD+FD)+:WORD*OD]};
    assign out = sinks[WORD*ID+:4*CHANNELS*WORD];
    assign source_tokens[OD-1:0] = wrote[RD+FD+:OD];
    assign source_driven[OD-1:0] = {OD{tile_class != 0}};
    assign push = {sink_tokens[ID-1:0], wrote[RD+:FD]};
    assign live = {sink_driven[ID-1:0], {FD{1'b1}}};
    wrapper wrapper (
        .clk(clk), .clear(clear), .load_at(load_at), .load_word(load_word), .sources(sources), .tokens(source_tokens),
        .driven(source_driven), .sinks(sinks), .sink_tokens(sink_tokens), .sink_driven(sink_driven),
        .load(load && (load_kind == 3 && load_number == wrapper_number || load_kind == 4 && load_number == index)));
    generate
        for (f = 0; f < 4; f = f + 1) begin : sides
            assign source_tokens[OD+CHANNELS*f+:CHANNELS] = in_flags[2*CHANNELS*f+:CHANNELS];
            assign source_driven[OD+CHANNELS*f+:CHANNELS] = in_flags[2*CHANNELS*f+CHANNELS+:CHANNELS];
            assign out_flags[2*CHANNELS*f+:CHANNELS] = sink_tokens[ID+CHANNELS*f+:CHANNELS];
            assign out_flags[2*CHANNELS*f+CHANNELS+:CHANNELS] = sink_driven[ID+CHANNELS*f+:CHANNELS];
        end
        for (f = 0; f < FIFOS; f = f + 1) begin : fifos
            localparam SINK = f < FD ? 0 : f - FD, FEEDBACK = f < FD ? RD + f : 0;
            reg [FIFO:0] depth;
            wire [FIFO:0] count;
            wire [WORD-1:0] in_word = f < FD ? result[WORD*FEEDBACK+:WORD] : sinks[WORD*SINK+:WORD];
            assign full[f] = count > depth;
            assign any[f] = |count;
            fifo fifo (
                .clk(clk), .reset(reset), .push(push[f]), .in(in_word), .pop(popped[f]),
                .head(registers[WORD*(RD+f)+:WORD]), .count(count));
            always @(posedge clk)
                if (clear) depth <= 0;
                else if (of_class && load_kind == 2) begin
                    if (load_at == f) depth <= load_word[FIFO:0];
                end
        end
    endgenerate

    assign halted = running == 0;
    reg collided;
    always @(posedge clk) collided <= !reset && |wrote_twice;
    always @* begin
        fault = 0;
        fault[0] = |full;
        fault[1] = |(popped & ~any & live);
        fault[2] = |read_twice[REGISTERS-1:RD];
        fault[3] = |(popped & ~any & ~live);
        fault[4] = |(read[RD-1:0] & ~defined);
        fault[5] = collided;
        fault[7] = |(issue & unit_busy);
        fault[8] = |(issue & ~unit_hit);
        fault[9] = |zero;
        fault[12] = |any && ended;
        fault[13] = |outside;
        fault[14] = step && past && !halted;
    end
endmodule
