# Everything a person or a machine does with this repository.
# The same commands run on a developer's machine and in continuous integration.

SWIFT ?= swift
# What is simulated by `make run`: any options of `torpor simulate`.
RUN ?= --scenario day

# Built as Embedded Swift with no allocations. The engine pulls in every room below it; a test
# (Tests/ArchitectureTests) holds that together they reach all rooms of the core.
EMBEDDED_ROOMS := LocationEngine LocationHAL
EMBEDDED_PATH := .build-embedded

.DEFAULT_GOAL := help
.PHONY: help run test bench fuzz lint format embedded tests release boards clean tools bench-tools

help:
	@echo 'make run       install what is missing, build, run a simulated day on the default board'
	@echo 'make test      all gates: lint, Embedded build, tests, release build, every board'
	@echo 'make bench     instructions, time and heap allocations of the hot paths (BENCH=--json)'
	@echo 'make fuzz      looks for input that breaks a decoder (FUZZ_SECONDS=60 for each; FUZZ="ring ubx")'
	@echo 'make lint      only the style check      make format    put the style right'
	@echo 'make embedded  only the Embedded build   make tests     only the tests'
	@echo 'make boards    only the boards           make clean     remove what was built'

run: release
	@.build/release/torpor simulate $(RUN)

# One after the other, so that the first thing that is wrong is the last thing one reads.
test: tools
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory embedded
	@$(MAKE) --no-print-directory tests
	@$(MAKE) --no-print-directory boards
	@echo 'make test: every gate passed.'

lint:
	@echo '== style'
	@$(SWIFT) format lint --strict --recursive Sources Tests Package.swift

format:
	@$(SWIFT) format --in-place --recursive Sources Tests Package.swift

embedded: tools
	@echo '== the core as Embedded Swift, without allocations'
	@mkdir -p $(EMBEDDED_PATH)
	@printf '%s\n' '{"schemaVersion":"1.0","swiftCompiler":{"extraCLIOptions":["-enable-experimental-feature","Embedded","-wmo","-no-allocations"]}}' > $(EMBEDDED_PATH)/toolset.json
	@for room in $(EMBEDDED_ROOMS); do \
	  $(SWIFT) build --scratch-path $(EMBEDDED_PATH) --toolset $(EMBEDDED_PATH)/toolset.json --target $$room || exit 1; \
	done

tests: tools
	@echo '== tests'
	@$(SWIFT) test

release: tools
	@echo '== release build'
	@$(SWIFT) build -c release --product torpor

boards: release
	@echo '== every board simulates an hour'
	@.ci/check-boards .build/release/torpor

bench: tools bench-tools
	@$(SWIFT) build -c release --product TorporBench >&2
	@strip -o .build/TorporBench .build/release/TorporBench # older valgrinds stumble over its DWARF 5
	@.build/TorporBench $(BENCH)

# Docs/HowTo/fuzz.md. What is found stays in .build-fuzz/found.
fuzz: tools
	@FUZZ_SECONDS='$(FUZZ_SECONDS)' FUZZ_JOBS='$(FUZZ_JOBS)' SWIFT='$(SWIFT)' .ci/fuzz $(FUZZ)

# Debian's and Ubuntu's packages; asked for only if the probe finds them missing.
tools:
	@.ci/install-missing build

bench-tools:
	@.ci/install-missing bench

clean:
	rm -rf .build .build-*
