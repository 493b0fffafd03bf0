// SPDX-License-Identifier: Apache-2.0
// A functional unit: its instructions, the program counter, branches on control signals, and where operands come from.
// An instruction has PARTS words: {halt, a file for each source, opcode}, three sources, a bit for each destination,
// four signals each, two targets each.
module unit #(
`include "machine.vh"
) (
    input clk, input clear, input reset,
    input load, input [PC-1:0] load_at, input [7:0] load_part, input [31:0] load_word,
    input on, input [SIGNALS-1:0] signals,
    input [RD*WORD-1:0] general, input [FIFOS*WORD-1:0] heads,
    output reg running, output outside, output issue, output reg [PC:0] pc,
    output [9:0] opcode, output [DEST-1:0] to, output reg [3*WORD-1:0] operands,
    output reg [3*FIFOS-1:0] pops, output reg [RD-1:0] reads
);
    localparam SELECT = 4 + (DEST + 31) / 32, TARGET = SELECT + (FLAGS + 3) / 4;
    wire [32*PARTS-1:0] word;
    // Whether the unit has a program at all.
    reg present;
    reg [FLAGS-1:0] code;
    reg [WORD-1:0] immediate;
    reg [INDEX-1:0] index;
    reg [1:0] file;
    integer n, f;
    genvar p;
    wire active = on && running;
    wire [(16<<FLAGS)-1:0] targets = word[32*TARGET+:16<<FLAGS];
    wire [15:0] target = targets[16*code+:16];
    wire [PC:0] next = active ? target[PC:0] : pc;
    // The highest bit of a target says that it lies behind the program.
    assign outside = active && pc[PC];
    assign opcode = word[9:0];
    assign issue = active && !pc[PC] && opcode != 10'h3f0;
    assign to = word[32*4+:DEST];

    always @* begin
        code = 0;
        for (n = 0; n < FLAGS; n = n + 1)
            code[n] = signals[word[32*SELECT+8*n+:8]];
        operands = 0;
        pops = 0;
        reads = 0;
        immediate = 0;
        index = 0;
        file = 0;
        if (issue)
            for (n = 0; n < 3; n = n + 1) begin
                file = word[10+2*n+:2];
                immediate = word[32*(n+1)+:32];
                index = immediate[INDEX-1:0];
                if (file == 3)
                    operands[WORD*n+:WORD] = immediate;
                else if (file == 0) begin
                    operands[WORD*n+:WORD] = general[WORD*index+:WORD];
                    for (f = 0; f < RD; f = f + 1) reads[f] = reads[f] || index == f;
                end else begin
                    operands[WORD*n+:WORD] = heads[WORD*index+:WORD];
                    for (f = 0; f < FIFOS; f = f + 1) pops[FIFOS*n+f] = index == f;
                end
            end
    end

    generate
        for (p = 0; p < PARTS; p = p + 1) begin : parts
            reg [31:0] memory [0:(1<<PC)-1], read;
            assign word[32*p+:32] = read;
            always @(posedge clk) begin
                if (load && load_part == p) memory[load_at] <= load_word;
                read <= memory[next[PC-1:0]];
            end
        end
    endgenerate
    always @(posedge clk) begin
        pc <= reset ? 0 : next;
        if (clear) present <= 0;
        else if (load) present <= load_part != 255;
        if (reset) running <= present;
        else if (active && word[16]) running <= 0;
    end
endmodule
