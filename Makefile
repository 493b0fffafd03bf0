# SPDX-License-Identifier: Apache-2.0
# Everything from nothing: each goal first makes .venv, and installs what it needs: the package, editable, with what
# compiles it (.venv/installed), and the tools of the dev group (.venv/tools). Stamps remember it; a changed native
# source, table, CMakeLists.txt or pyproject.toml installs again.
PYTHON ?= python3
JOBS ?= 2
SECONDS ?= 3600
BIN := .venv/bin
NATIVE := CMakeLists.txt native/CMakeLists.txt $(wildcard native/*/*.cpp native/*/*.hpp native/*/*.c native/*/*.h native/*/include/*)
# What the generated headers are made of (packaging/generate.py).
TABLES := packaging/generate.py $(shell find src/polyloom/riscv src/polyloom/targets -name header.py -o -name '*.txt')
FORMATTED := $(wildcard $(addprefix native/*/*.,c h cpp hpp) $(addprefix examples/firmware/*.,c h) $(addprefix tests/device/*.,c h) $(addprefix tests/fuzz/*.,c cpp))
SANITIZED := build/sanitize
WHEEL := build/installed
SELECT := src/polyloom/riscv/selects/select.txt

.PHONY: demo test test-long check lint format native-test wheel-test wheels try-wheels sdist release-notes docs bench compare polybench libraries litmus kernels gcc llk dv silicon select-table fuzz arrays mlir onnx device mutations programs floats golden house clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

demo: .venv/installed
	$(BIN)/python examples/demo.py

test: .venv/installed .venv/tools
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

test-long: .venv/installed .venv/tools
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m long --hypothesis-profile=long

check: lint native-test wheel-test test

lint: .venv/installed .venv/tools
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(FORMATTED)
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: .venv/tools
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(FORMATTED)

# With the fuzzers, which the tests run for seconds (tests/fuzz/test_fuzz.py) and compile if this has not.
native-test: .venv/installed .venv/tools
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B $(SANITIZED) -G Ninja -DPOLYLOOM_SANITIZE=ON -DPOLYLOOM_WERROR=ON
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $(SANITIZED)
	PATH="$(CURDIR)/$(BIN):$$PATH" ctest --test-dir $(SANITIZED) --output-on-failure --no-tests=error
	$(BIN)/python -m tests.fuzz.fuzzing --build

# The package as users get it, without the editable install: -S leaves out the hook that redirects to src. Then README's
# first screen, word by word, in an empty environment.
wheel-test: .venv/installed .venv/tools
	rm -rf $(WHEEL) build/wheel
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir build/wheel .
	$(PIP) --no-deps --target $(WHEEL) build/wheel/*.whl
	cd $(WHEEL) && export PYTHONPATH="$$PWD:$$($(CURDIR)/$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" && \
	  polyloom="$(CURDIR)/$(BIN)/python -S -m polyloom" && \
	  $$polyloom run polyloom/examples/bits.pla N=16 --on tcpa:paper:1x3 && \
	  case "$$($$polyloom device --include)" in "$$PWD"/*) ;; *) echo "the device library is not that of the wheel" >&2; exit 1;; esac && \
	  $(CC) -std=c11 -ffreestanding -fsyntax-only -Wall -Werror -I"$$($$polyloom device --include)" $$($$polyloom device --sources)
	$(BIN)/python -m tests.install.first_screen build/wheel/*.whl

# PYTHONS: the Pythons whose wheels are made; TRIED: those that install one into an empty environment and run gemm.
PYTHONS ?= $(PYTHON)
TRIED ?= $(PYTHONS)
wheels:
	rm -rf build/wheels/raw build/wheels/dist
	$(PYTHON) packaging/wheels.py build $(PYTHONS)
	$(PYTHON) packaging/wheels.py try $(TRIED)

try-wheels:
	$(PYTHON) packaging/wheels.py try $(TRIED)

sdist: .venv/tools
	$(BIN)/python -m build --sdist --no-isolation --outdir build/wheels/dist .

# TAG: of the release, such as v1.2.3.
release-notes:
	@$(PYTHON) packaging/notes.py "$(TAG)"

# The site, in build/docs: open index.html. First its gallery: runs of all examples, which are kept in build/site.
docs: .venv/installed .venv/tools
	$(BIN)/python -m tests.docs.gallery build/site/gallery $(JOBS)
	$(BIN)/python -m sphinx -W -n --keep-going -q -j $(JOBS) -b html docs build/docs

bench: .venv/installed .venv/tools
	$(BIN)/polyloom bench

# Every program of examples/kernels and examples/library on every target: verified, or refused with its reason.
# WRITE=--write writes the table of README.md.
compare: .venv/installed .venv/tools
	$(BIN)/python -m tests.comparison.every_program $(WRITE)

# POLYBENCH: the folder of PolyBench/C 4.2.1, which is not in this repository.
polybench: .venv/installed .venv/tools
	@test -d "$(POLYBENCH)" || { echo "write make polybench POLYBENCH=DIR" >&2; exit 2; }
	$(BIN)/python -m tests.kernels.polybench "$(POLYBENCH)"

# LIBS: checkouts of libraries in C, which are not in this repository; tests/libraries lists their functions.
libraries: .venv/installed .venv/tools
	@test -n "$(LIBS)" || { echo 'write make libraries LIBS="DIR ..."' >&2; exit 2; }
	$(BIN)/python -m tests.libraries.table $(LIBS)

# CORPUS: a folder with litmus tests and the logs of another tool.
litmus: .venv/installed .venv/tools
	@test -d "$(CORPUS)" || { echo "write make litmus CORPUS=DIR" >&2; exit 2; }
	$(BIN)/polyloom litmus "$(CORPUS)" $$(find "$(CORPUS)" -name '*.log' -o -name '*.logs' | sort | sed 's/^/--against /')

# Downloads 102 MB into build/ once: the vendor's kernels for Wormhole, which are not part of this repository.
kernels: .venv/installed .venv/tools
	$(BIN)/python -m tests.targets.tensix.sfpi.vendor.kernels build/ttnn

# Uses the same download: units in the last place that the vendor measured on silicon, beside the model's.
silicon: .venv/installed .venv/tools
	$(BIN)/python -m tests.targets.tensix.sfpi.vendor.silicon build/ttnn

# SFPI: a checkout of the vendor's repository of its compiler, at a commit with tests/wormhole.
gcc: .venv/installed .venv/tools
	@test -d "$(SFPI)" || { echo "write make gcc SFPI=DIR" >&2; exit 2; }
	$(BIN)/python -m tests.targets.tensix.sfpi.vendor.gcc "$(SFPI)"

# LLK: a checkout with the vendor's low-level kernels (tt-metal or tt-llk); without it, the wheel in build/.
# MEMBER=blackhole runs those that Blackhole's part of the model takes.
llk: .venv/installed .venv/tools
	$(BIN)/python -m tests.targets.tensix.llk.vendor.table $(if $(LLK),"$(LLK)",build/ttnn) $(MEMBER)

# DV: a checkout of core-et, branch erbium: the public verification tests of the Minion, of which none is kept here.
dv: .venv/installed .venv/tools
	@test -d "$(DV)" || { echo "write make dv DV=DIR" >&2; exit 2; }
	$(BIN)/python -m tests.targets.minion.dv.table "$(DV)"

# Minutes; the tests search a few rows again.
select-table: .venv/installed .venv/tools
	$(BIN)/python -m polyloom.riscv.selects.search > $(SELECT).new
	mv $(SELECT).new $(SELECT)

# Divides SECONDS among all fuzzers (tests/fuzz/fuzzing.py), and ends at the first finding; needs clang with libFuzzer.
fuzz: .venv/installed .venv/tools
	$(BIN)/python -m tests.fuzz.fuzzing $(SECONDS)

# COUNT random kernels of whole arrays on every machine, as a table (tests/frontend/python/arrays/machine_table.py), and
# cycles of whole arrays beside those of loops (cycle_table.py).
COUNT ?= 300
arrays: .venv/installed .venv/tools
	$(BIN)/python -m tests.frontend.python.arrays.machine_table $(COUNT)
	$(BIN)/python -m tests.frontend.python.arrays.cycle_table
	$(BIN)/python -m tests.frontend.python.arrays.aims

# FILES: a folder with checkouts of the projects that tests/mlir/functions.txt names, each called as the project is.
mlir: .venv/installed .venv/tools
	@test -d "$(FILES)" || { echo "write make mlir FILES=DIR" >&2; exit 2; }
	$(BIN)/python -m tests.mlir.table "$(FILES)"

# Node tests of the package onnx: how many pass on machines, and why others are refused. WRITE=--write writes the lists.
onnx: .venv/installed .venv/tools
	$(BIN)/python -m tests.frontend.onnx.node_cases --jobs $(JOBS) $(WRITE)

# MUTATIONS lines of Verilog, each changed once (0: all): how many a co-simulation notices. SEED draws others.
MUTATIONS ?= 40
SEED ?= 1
mutations: .venv/installed .venv/tools
	$(BIN)/python -m tests.targets.tcpa.rtl.mutation_table $(MUTATIONS) $(SEED)

# PROGRAMS random programs, and CHANGED files of such programs with one byte changed, on a circuit beside the model. SEED
# draws others.
PROGRAMS ?= 1000
CHANGED ?= 10000
programs: .venv/installed .venv/tools
	$(BIN)/python -m tests.targets.tcpa.rtl.program_table $(PROGRAMS) $(CHANGED) $(SEED)

# Netlists of the floating-point operations beside the host's arithmetic: all operands of small formats, all pairs of f16,
# all words and OPERANDS random pairs and triples of f32. FORMATS="f16 f32" chooses some, SEED draws others.
OPERANDS ?= 1000000000
floats: .venv/installed .venv/tools
	$(BIN)/python -m tests.targets.tcpa.rtl.floats.sweep.float_sweep $(OPERANDS) $(SEED) $(FORMATS)

# Sizes, stack, scratch and instructions on small hosts; needs qemu-user.
device: .venv/installed .venv/tools
	$(BIN)/python -m tests.device.report

golden: .venv/installed .venv/tools
	$(BIN)/python -m pytest -n $(JOBS) --update-golden

# Tokens, odd names, comments and sources named (tests/repository/test_house.py has the bounds).
house: .venv/tools
	$(BIN)/python -m tests.repository.house

clean:
	rm -rf .venv build .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# Dependency groups need pip 25.1, which is newer than what Debian's venv brings. Python compiles modules when they are
# first imported, which most of a package never are.
PIP := $(BIN)/python -m pip install --quiet --no-compile
unexport PYTHONDONTWRITEBYTECODE
.venv/build: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --group build
	touch $@

.venv/installed: .venv/build $(NATIVE) $(TABLES)
	$(PIP) --no-build-isolation --editable .
	touch $@

.venv/tools: .venv/build
	$(PIP) --group dev
	touch $@
