// SPDX-License-Identifier: Apache-2.0
// ROWS x COLUMNS elements, the controller with its delay lines, and a bank at every channel of the border. Ports of the
// border are numbered north, east, south, west. `clear` empties the configuration; `reset`, after its words have come, is
// the state from which a run begins. `write_*`, `issue`, `pc`, `done` and `value` are for observers.
module array #(
`include "machine.vh"
) (
    input clk, input clear, input reset,
    input load, input [51:0] load_address, input [31:0] load_word,
    input run,
    output ended,
    output [N*32-1:0] fault, output [BANKS*32-1:0] bank_fault,
    output [N*UNITS-1:0] issue, output [N*UNITS*16-1:0] pc, output [N*LANES-1:0] done,
    output [N*LANES*WORD-1:0] value,
    output [BANKS-1:0] write, output [BANKS*32-1:0] write_address, output [BANKS*WORD-1:0] write_value
);
    // The bus reaches every word of the configuration, so that it has registers where it enters.
    reg write_word, go;
    reg [51:0] bus_address;
    reg [31:0] word;
    wire [3:0] kind = bus_address[51:48];
    wire [15:0] number = bus_address[47:32], at = bus_address[23:8];
    wire [7:0] part = bus_address[7:0], of_unit = bus_address[31:24];
    wire scalar = write_word && kind == 5 && of_unit == 0;
    reg [31:0] interval, row_delay, column_delay;
    reg south, east, soon, on;
    always @(posedge clk) begin
        if (scalar && at == 0) interval <= word;
        if (scalar && at == 2) row_delay <= word;
        if (scalar && at == 3) column_delay <= word;
        if (scalar && at == 5) {east, south} <= word[1:0];
        {write_word, bus_address, word} <= {load && !clear, load_address, load_word};
        {on, soon, go} <= reset ? 3'd0 : {soon, go, run};
    end

    wire [SIGNALS+1:0] control;
    wire [CHANNELS*WORD-1:0] out [0:4*N-1], in [0:4*N-1], enter [0:PORTS-1], leave [0:PORTS-1];
    // Of each channel, whether anything drives it, then whether it carries a token.
    wire [2*CHANNELS-1:0] out_flags [0:4*N-1], in_flags [0:4*N-1], enter_flags [0:PORTS-1], leave_flags [0:PORTS-1];
    wire [N-1:0] halted;
    wire [BANKS-1:0] finished;
    // Tokens on wires arrive, and results leave the units, before what is left counts.
    reg [15:0] idle;
    wire quiet = on && &halted && &finished;
    assign ended = idle == DRAIN;
    always @(posedge clk) idle <= reset || !quiet ? 0 : ended ? idle : idle + 1;
    controller controller (
        .clk(clk), .clear(clear), .reset(reset), .load(write_word), .load_kind(kind), .load_number(number),
        .load_unit(of_unit),
        .load_at(at), .load_part(part), .load_word(word), .interval(interval), .on(on),
        .step(control[SIGNALS+1]), .past(control[SIGNALS]), .signals(control[SIGNALS-1:0]));
    genvar r, c, s;
    generate
        for (r = 0; r < ROWS; r = r + 1) begin : rows
            for (c = 0; c < COLUMNS; c = c + 1) begin : columns
                localparam I = r * COLUMNS + c;
                wire [SIGNALS+1:0] step;
                if (c != 0)
                    delay_line line (
                        .clk(clk), .reset(reset), .delay(column_delay), .interval(interval), .in(columns[c-1].step),
                        .out(step));
                else if (r != 0)
                    delay_line line (
                        .clk(clk), .reset(reset), .delay(row_delay), .interval(interval),
                        .in(rows[r-1].columns[0].step), .out(step));
                else
                    assign step = control;
                wire [SIGNALS+1:0] mine = south
                    ? (east ? rows[ROWS-1-r].columns[COLUMNS-1-c].step : rows[ROWS-1-r].columns[c].step)
                    : east ? columns[COLUMNS-1-c].step : step;
                element element (
                    .clk(clk), .clear(clear), .reset(reset), .index(I[15:0]), .load(write_word), .load_kind(kind),
                    .load_number(number),
                    .load_unit(of_unit), .load_at(at), .load_part(part), .load_word(word),
                    .step(mine[SIGNALS+1]), .past(mine[SIGNALS]), .signals(mine[SIGNALS-1:0]), .ended(ended),
                    .in({in[4*I+3], in[4*I+2], in[4*I+1], in[4*I]}),
                    .in_flags({in_flags[4*I+3], in_flags[4*I+2], in_flags[4*I+1], in_flags[4*I]}),
                    .out({out[4*I+3], out[4*I+2], out[4*I+1], out[4*I]}),
                    .out_flags({out_flags[4*I+3], out_flags[4*I+2], out_flags[4*I+1], out_flags[4*I]}),
                    .issue(issue[UNITS*I+:UNITS]), .pc(pc[UNITS*16*I+:UNITS*16]),
                    .done(done[LANES*I+:LANES]), .value(value[LANES*WORD*I+:LANES*WORD]), .halted(halted[I]),
                    .fault(fault[32*I+:32]));
                for (s = 0; s < 4; s = s + 1) begin : sides
                    localparam EDGE = s == 0 ? r == 0 : s == 1 ? c == COLUMNS - 1 : s == 2 ? r == ROWS - 1 : c == 0,
                               PORT = s == 0 ? c : s == 1 ? COLUMNS + r : s == 2 ? COLUMNS + ROWS + c
                                    : 2 * COLUMNS + ROWS + r,
                               OTHER = s == 0 ? I - COLUMNS : s == 1 ? I + 1 : s == 2 ? I + COLUMNS : I - 1;
                    if (EDGE) begin : border
                        assign leave[PORT] = out[4*I+s];
                        assign leave_flags[PORT] = out_flags[4*I+s];
                        assign in[4*I+s] = enter[PORT];
                        assign in_flags[4*I+s] = enter_flags[PORT];
                    end else begin : link
                        hop hop (
                            .clk(clk), .reset(reset), .in(out[4*OTHER+(s^2)]), .in_flags(out_flags[4*OTHER+(s^2)]),
                            .out(in[4*I+s]), .out_flags(in_flags[4*I+s]));
                    end
                end
            end
        end
        for (r = 0; r < PORTS; r = r + 1) begin : ports
            for (c = 0; c < CHANNELS; c = c + 1) begin : channels
                localparam B = r * CHANNELS + c;
                bank bank (
                    .clk(clk), .clear(clear), .reset(reset), .index(B[15:0]), .load(write_word), .load_kind(kind),
                    .load_number(number),
                    .load_unit(of_unit), .load_at(at), .load_part(part), .load_word(word),
                    .interval(interval), .ahead(go), .on(on), .in(leave[r][WORD*c+:WORD]),
                    .in_token(leave_flags[r][c]), .out(enter[r][WORD*c+:WORD]), .out_token(enter_flags[r][c]),
                    .drives(enter_flags[r][CHANNELS+c]), .write(write[B]), .address(write_address[32*B+:32]),
                    .value(write_value[WORD*B+:WORD]), .finished(finished[B]), .fault(bank_fault[32*B+:32]));
            end
        end
    endgenerate
endmodule
