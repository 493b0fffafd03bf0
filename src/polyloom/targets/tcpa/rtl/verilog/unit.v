// SPDX-License-Identifier: Apache-2.0
// A functional unit: its instructions, the program counter, branches on control signals, and where operands come from.
// An instruction has PARTS words: {halt, a file for each source, opcode}, three sources, a bit for each destination,
// four signals each, two targets each. No operation of the unit has more than OPERANDS sources; an instruction that has
// faults, but what it reads and pops is that of all its sources.
module unit #(
`include "machine.vh"
    , parameter OPERANDS = 3
) (
    input clk, input clear, input reset,
    input load, input [PC-1:0] load_at, input [7:0] load_part, input [31:0] load_word,
    input on, input [SIGNALS-1:0] signals, input [REGISTERS*WORD-1:0] registers,
    output reg running, output outside, output issue, output reg [PC:0] pc,
    output [9:0] opcode, output [DEST-1:0] to, output [3*WORD-1:0] operands,
    output [REGISTERS-1:0] read, output [REGISTERS-1:0] read_twice
);
    localparam SELECT = 4 + (DEST + 31) / 32, TARGET = SELECT + (FLAGS + 3) / 4;
    localparam [REGISTERS-1:0] ONE = 1;
    reg [32*PARTS-1:0] word;
    // Whether the unit has a program at all.
    reg present;
    reg [FLAGS-1:0] code;
    integer n;
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

    wire [REGISTERS-1:0] a = sources[0].own, b = sources[1].own, c = sources[2].own;
    assign read = a | b | c;
    assign read_twice = a & b | (a | b) & c;

    always @*
        for (n = 0; n < FLAGS; n = n + 1)
            code[n] = signals[word[32*SELECT+8*n+:8]];

    generate
        for (p = 0; p < 3; p = p + 1) begin : sources
            wire [31:0] immediate = word[32*(p+1)+:32];
            wire [INDEX-1:0] index = immediate[INDEX-1:0];
            wire is_immediate = word[10+2*p+:2] == 3;
            wire [REGISTERS-1:0] own = issue && !is_immediate ? ONE << index : 0;
            if (p < OPERANDS) begin : operand
                wire [WORD-1:0] register;
                selector #(.COUNT(REGISTERS), .WIDTH(WORD), .INDEX(INDEX)) selector (
                    .chosen(own), .index(index), .words(registers), .word(register));
                assign operands[WORD*p+:WORD] = issue && is_immediate ? immediate : register;
            end else
                assign operands[WORD*p+:WORD] = 'bx;
        end
    endgenerate
    // Programs are loaded before they run.
    (* no_rw_check *) reg [32*PARTS-1:0] memory [0:(1<<PC)-1];
    always @(posedge clk) begin
`ifdef SYNTHESIS
        // Places are constants, so that these are enables of block RAM.
        for (n = 0; n < PARTS; n = n + 1)
            if (load && load_part == n) memory[load_at][32*n+:32] <= load_word;
`else
        // The same with one place, which a simulator has to keep until the end of the cycle.
        if (load && load_part < PARTS) memory[load_at][32*load_part+:32] <= load_word;
`endif
        if (present) word <= memory[next[PC-1:0]];
    end
    always @(posedge clk) begin
        pc <= reset ? 0 : next;
        if (clear) present <= 0;
        else if (load) present <= load_part != 255;
        if (reset) running <= present;
        else if (active && word[16]) running <= 0;
    end
endmodule
