// SPDX-License-Identifier: Apache-2.0
// What the controller sends, {step, past, signals}, `delay` cycles later. One entry is stored per step, not one per
// cycle: steps come every `interval` cycles, so the first one tells when the others leave.
module delay_line #(
`include "machine.vh"
) (
    input clk, input reset, input [31:0] delay, input [31:0] interval,
    input [SIGNALS+1:0] in, output [SIGNALS+1:0] out
);
    // A step that enters is read in a later cycle.
    (* no_rw_check *) reg [SIGNALS:0] memory [0:(1<<DELAY)-1];
    reg [SIGNALS:0] ahead, last;
    reg [DELAY-1:0] first, free;
    reg [31:0] left;
    reg running, pulse;
    wire step = in[SIGNALS+1];
    wire fires = delay == 1 ? step : running && left == 0 && first != free;
    assign out = delay == 0 ? in : {pulse, delay == 1 ? last : ahead};
    always @(posedge clk)
        if (reset) {running, pulse, first, free} <= 0;
        else begin
            if (step) begin
                memory[free] <= in[SIGNALS:0];
                free <= free + 1;
                running <= 1;
            end
            if (!running) left <= delay - 2;
            else left <= left == 0 ? interval - 1 : left - 1;
            pulse <= fires;
            if (fires) begin
                // The memory has a register of its own at its output, as block RAM does.
                ahead <= memory[first];
                last <= in[SIGNALS:0];
                first <= first + 1;
            end
        end
endmodule
