# Everything a person or a machine does with this repository.
# The same commands run on a developer's machine and in continuous integration.

SWIFT ?= swift
# What is simulated by `make run`: any options of `torpor simulate`.
RUN ?= --board imx8mm-max-m8q --service visits

# Built as Embedded Swift with no allocations. The engine needs every module below it; a test
# (Tests/ArchitectureTests) holds that together they need all modules of the core.
EMBEDDED_MODULES := LocationEngine LocationHAL
EMBEDDED_PATH := .build-embedded
SOAK_PATH := .build-soak
SOAK_RUNS := 480
# The service as it is installed: Swift's and C++'s libraries are inside, and nothing is linked that it
# does not use (Docs/Reference/service-cost.md); optimized as one program, without the checks for
# exclusive access that the tests have (Docs/Decisions/0115-the-service-is-linked-as-one.md).
SERVICE_PATH := .build-service
SERVICE_BUILD = $(SWIFT) build -c release --scratch-path $(SERVICE_PATH) --static-swift-stdlib \
  --experimental-lto-mode full -Xswiftc -use-ld=lld \
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import \
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-concurrency-module-import \
  $(SERVICE_CHECKS) \
  -Xlinker --no-export-dynamic -Xlinker --icf=safe \
  $(if $(wildcard $(SERVICE_ORDER)),-Xlinker '--symbol-ordering-file=$(CURDIR)/$(SERVICE_ORDER)' \
  -Xlinker --no-warn-symbol-ordering)
# Without it the program checks that nobody writes what another reads: make torture SERVICE_PATH=.build-checked SERVICE_CHECKS=
SERVICE_CHECKS := -Xswiftc -enforce-exclusivity=unchecked
# The functions a fix runs through, beside each other.
SERVICE_ORDER := packaging/torpord.order

# The virtual board: what it is made of is kept there between two runs.
BOARD_PATH := .build-board
BOARD_RESETS ?= 8
# By the clock, for each lane: against a hang. What may be slow is limited by the guest's own time.
BOARD_SECONDS ?= 1800
# The figures that `make compare-board` leaves.
COMPARED := $(BOARD_PATH)/compared.json
# What `make install` installs as torpor. `make test` has built everything (PREBUILT) and uses that.
COMMAND := $(if $(PREBUILT),.build/debug/torpor,.build/release/torpor)
# What builds it, where it is not there already.
COMMAND_BUILD = $(if $(filter .build/release/torpor,$(COMMAND)),release)
# The command as it is packaged: with Swift's libraries inside.
COMMAND_PATH := .build-command
DEB_PATH := .build-deb
CHECK_PATH := .build-check
FRESH_PATH := .build-fresh
# An SDK for arm64 made of Debian's packages, what was built with it, and what its programs wrote.
ARM64_PATH := .build-arm64
ARM64_BUILD = TORPOR_ARM64=1 $(SWIFT) build -c release --scratch-path $(ARM64_PATH)/build \
  --swift-sdks-path $(ARM64_PATH)/sdks --swift-sdk torpor-arm64

.DEFAULT_GOAL := help
.PHONY: help run test check snapshots digests unit test-fresh build bench fuzz soak soaked lint format embedded tests process-tests interface release boards firmware clean tools \
  soak-build bench-tools firmware-tools completions man install uninstall service service-order bench-service \
  service-tools arm64 arm64-tools torture client-probe test-board compare-board board-program board-tools command deb deb-tools test-deb test-deb-tools

# Where `make install` puts things: below DESTDIR, which is for makers of packages.
PREFIX ?= /usr/local
DESTDIR ?=
BIN := $(DESTDIR)$(PREFIX)/bin
SHARE := $(DESTDIR)$(PREFIX)/share
UNITS := $(DESTDIR)$(PREFIX)/lib/systemd/system

help:
	@echo 'make run       install what is missing, build, run a simulated day on the default board'
	@echo 'make test      all gates: lint, Embedded build, tests, firmware, boards, random runs (VERBOSE=1 prints all)'
	@echo 'make check     the fast loop: lint, Embedded build, the tests that wait for nothing'
	@echo 'make test-fresh  make run and make test in a new Debian that holds only the toolchain; as root'
	@echo 'make bench     instructions, time and heap allocations of the hot paths (BENCH=--json)'
	@echo 'make bench-service  what torpord costs beside gpsd, and whether that is little enough (BENCH=--json)'
	@echo 'make torture   kills torpord and clients at any moment, fills its disk, damages its ring (TORTURE="--kills N")'
	@echo 'make test-board  torpord on a virtual board: GPIO, receiver, suspend, resets (BOARD="--only batch")'
	@echo 'make compare-board  an hour with thirty starts on the virtual board and in the simulator, side by side'
	@echo 'make fuzz      looks for input that breaks a decoder (FUZZ_SECONDS=60 for each; FUZZ="ring ubx")'
	@echo 'make soaked    only the random runs of the gate: the same seeds each time'
	@echo 'make snapshots  write the checked-in copies of all interfaces and digests of behaviour anew; digests, those of seeds'
	@echo 'make soak      random clients and faults until stopped (SOAK_SECONDS=600, SOAK="--seed N")'
	@echo 'make lint      only the style check      make format    put the style right'
	@echo 'make embedded  only the Embedded build   make tests     only the tests in virtual time'
	@echo 'make process-tests  only the tests of processes and of real time'
	@echo 'make interface only the interface file of the socket, if Python has a varlink package'
	@echo 'make boards    only the boards           make clean     remove what was built'
	@echo 'make firmware  the core on a Cortex-M4 and an aarch64 in QEMU: its self-test and its size'
	@echo 'make arm64     builds for arm64 with Debian sid (downloads 550 MB once), compares with this machine, runs torpord in QEMU'
	@echo 'make install   programs, boards, unit, manual pages, completions (PREFIX=/usr/local, DESTDIR=)'
	@echo 'make deb       a Debian package of them in .build-deb'
	@echo 'make test-deb  installs, runs, upgrades, removes and purges that package in a Debian of its own; as root'
	@echo 'make service   only torpord, as it is installed'
	@echo 'make service-order  which functions a fix runs through, anew, for the linker (packaging/torpord.order)'
	@echo 'make man       only the manual page      make completions  only those, for bash, zsh, fish'

run: release
	@.build/release/torpor simulate $(RUN)

# Every gate, quietly, and what failed or could not run in the last lines. VERBOSE=1 prints all.
test:
	@SWIFT='$(SWIFT)' .ci/test

# The fast loop of a developer: style, the Embedded build, and the tests that neither start a process nor wait.
check:
	@SWIFT='$(SWIFT)' .ci/test check

# A smaller package (Package.swift), whose test bundle is linked and run sooner.
unit: tools
	@echo '== tests of the core and the simulated board'
	@TORPOR_CHECK=1 $(SWIFT) test --scratch-path $(CHECK_PATH)

# A Debian that holds nothing but the toolchain, git and make; as root. Not part of continuous integration.
test-fresh:
	@.ci/test-fresh $(FRESH_PATH)

lint:
	@echo '== style'
	@$(SWIFT) format lint --parallel --strict --recursive Sources Tests Package.swift

format:
	@$(SWIFT) format --parallel --in-place --recursive Sources Tests Package.swift

embedded: tools
	@echo '== the core as Embedded Swift, without allocations'
	@mkdir -p $(EMBEDDED_PATH)
	@printf '%s\n' '{"schemaVersion":"1.0","swiftCompiler":{"extraCLIOptions":["-enable-experimental-feature","Embedded","-wmo","-no-allocations"]}}' > $(EMBEDDED_PATH)/toolset.json
	@for module in $(EMBEDDED_MODULES); do \
	  $(SWIFT) build --scratch-path $(EMBEDDED_PATH) --toolset $(EMBEDDED_PATH)/toolset.json --target $$module || exit 1; \
	done

build: tools
	@echo '== build of everything that is tested'
	@$(SWIFT) build --build-tests

tests: tools
	@echo '== tests in virtual time'
	@suites=$$(.ci/tagged-suites) && $(SWIFT) test $(if $(PREBUILT),--skip-build) --skip "$$suites"

# Suites with a tag: they wait for processes, timers and pseudo-terminals, and run when nothing else computes in
# their process.
process-tests: tools
	@echo '== tests of processes and of real time'
	@suites=$$(.ci/tagged-suites) && $(SWIFT) test $(if $(PREBUILT),--skip-build) --filter "$$suites"

# The socket's interface file and the examples of its page, through a library that is not ours.
interface:
	@echo "== the socket's interface"
	@if command -v python3 >/dev/null 2>&1; then .ci/check-interface; \
	else echo 'skipped: python3 is missing (apt-get install python3)'; fi

# After the tests, which build what this machine's run of the self-test is linked with.
firmware: tools firmware-tools
	@echo '== the core on a Cortex-M4 and an aarch64'
	@SWIFT='$(SWIFT)' PREBUILT='$(PREBUILT)' .ci/firmware $(EMBEDDED_MODULES)

release: tools
	@echo '== release build'
	@$(SWIFT) build -c release --product torpor

# With the tests' build, which is there already.
boards: tools
	@echo '== every board simulates an hour'
	@$(if $(PREBUILT),:,$(SWIFT) build --product torpor)
	@.ci/check-boards .build/debug/torpor

# What the command says of itself; each is looked at by its own reader where that is installed.
man: $(COMMAND_BUILD)
	@echo '== manual page'
	@mkdir -p .build/man
	@$(COMMAND) manual > .build/man/torpor.1
	@if command -v mandoc >/dev/null 2>&1; then mandoc -T lint -W warning .build/man/torpor.1 packaging/torpord.8; \
	else echo 'skipped: mandoc is missing (apt-get install mandoc)'; fi
	@if command -v man >/dev/null 2>&1; then man -l .build/man/torpor.1 >/dev/null; \
	else echo 'skipped: man is missing (apt-get install man-db)'; fi

completions: $(COMMAND_BUILD)
	@echo '== completions'
	@mkdir -p .build/completions
	@$(COMMAND) --generate-completion-script bash > .build/completions/torpor.bash
	@$(COMMAND) --generate-completion-script zsh > .build/completions/_torpor
	@$(COMMAND) --generate-completion-script fish > .build/completions/torpor.fish
	@for shell in bash:torpor.bash zsh:_torpor fish:torpor.fish; do \
	  if ! command -v "$${shell%:*}" >/dev/null 2>&1; then \
	    echo "skipped: $${shell%:*} is missing (apt-get install $${shell%:*})"; \
	  else "$${shell%:*}" -n ".build/completions/$${shell#*:}" || exit 1; fi; \
	done

# `make install` as root must not build as root: what was made is taken as it is.
install:
	@test -x $(COMMAND) -a -f .build/man/torpor.1 -a -f .build/completions/_torpor \
	  -a -f .build/completions/torpor.bash -a -f .build/completions/torpor.fish || \
	  $(MAKE) --no-print-directory man completions
	@test -x $(SERVICE_PATH)/torpord || $(MAKE) --no-print-directory service
	install -d '$(BIN)' '$(UNITS)' '$(SHARE)/man/man1' '$(SHARE)/man/man8' '$(SHARE)/doc/torpor' \
	  '$(SHARE)/bash-completion/completions' '$(SHARE)/zsh/site-functions' '$(SHARE)/fish/vendor_completions.d'
	install -m 755 $(COMMAND) '$(BIN)/torpor'
	install -m 755 $(SERVICE_PATH)/torpord '$(BIN)/torpord'
	sed 's|@BIN@|$(PREFIX)/bin|' packaging/torpord.service > '$(UNITS)/torpord.service'
	chmod 644 '$(UNITS)/torpord.service'
	install -m 644 .build/man/torpor.1 '$(SHARE)/man/man1/torpor.1'
	install -m 644 packaging/torpord.8 '$(SHARE)/man/man8/torpord.8'
	install -m 644 packaging/clients.toml '$(SHARE)/doc/torpor/clients.toml'
	install -m 644 packaging/torpord-sleep.conf '$(SHARE)/doc/torpor/torpord-sleep.conf'
	install -m 644 .build/completions/torpor.bash '$(SHARE)/bash-completion/completions/torpor'
	install -m 644 .build/completions/_torpor '$(SHARE)/zsh/site-functions/_torpor'
	install -m 644 .build/completions/torpor.fish '$(SHARE)/fish/vendor_completions.d/torpor.fish'
	for board in Boards/*/; do \
	  install -d "$(SHARE)/torpor/$$board" && \
	  install -m 644 "$$board"* "$(SHARE)/torpor/$$board" || exit 1; \
	done

uninstall:
	rm -f '$(BIN)/torpor' '$(BIN)/torpord' '$(UNITS)/torpord.service' \
	  '$(SHARE)/man/man1/torpor.1' '$(SHARE)/man/man8/torpord.8' \
	  '$(SHARE)/bash-completion/completions/torpor' '$(SHARE)/zsh/site-functions/_torpor' \
	  '$(SHARE)/fish/vendor_completions.d/torpor.fish'
	rm -rf '$(SHARE)/torpor' '$(SHARE)/doc/torpor'

bench: tools bench-tools
	@$(SWIFT) build -c release --product TorporBench >&2
	@strip -o .build/TorporBench .build/release/TorporBench # older valgrinds stumble over its DWARF 5
	@.build/TorporBench $(BENCH)

# The linker takes what lies among the package's own objects before what the system has.
service: tools
	@echo '== the service'
	@bin=$$($(SERVICE_BUILD) --show-bin-path) && mkdir -p "$$bin" && \
	for names in libstdc++.a:libstdc++.a libgcc_eh.a:libgcc_s.a; do \
	  found=$$(cc -print-file-name="$${names%:*}") && \
	  if [ -f "$$found" ]; then ln -sf "$$found" "$$bin/$${names#*:}"; fi; \
	done && \
	if [ '$(SERVICE_ORDER)' -nt "$$bin/torpord" ]; then rm -f "$$bin/torpord"; fi && \
	$(SERVICE_BUILD) --product torpord && strip -o $(SERVICE_PATH)/torpord "$$bin/torpord" && \
	if command -v python3 >/dev/null 2>&1; then .ci/service-order --check "$$bin/torpord" $(SERVICE_ORDER) || true; fi

# Runs the service under valgrind, and has to be made again when the functions of a fix have changed.
service-order: service
	@.ci/install-missing bench
	@.ci/service-order "$$($(SERVICE_BUILD) --show-bin-path)/torpord" $(SERVICE_ORDER)
	@$(MAKE) --no-print-directory service

command: tools
	@echo '== the command, with its libraries inside'
	@$(SWIFT) build -c release --scratch-path $(COMMAND_PATH) --static-swift-stdlib --product torpor
	@strip -o $(COMMAND_PATH)/torpor "$$($(SWIFT) build -c release --scratch-path $(COMMAND_PATH) --static-swift-stdlib --show-bin-path)/torpor"

# Docs/HowTo/run-the-service.md.
deb: service command deb-tools
	@$(MAKE) --no-print-directory man completions COMMAND=$(COMMAND_PATH)/torpor
	@echo '== the package'
	@mkdir -p $(DEB_PATH)
	@.ci/make-deb $(DEB_PATH) $(COMMAND_PATH)/torpor

# Docs/HowTo/run-the-gates.md. Two packages that differ in their version, of the same programs.
test-deb: deb client-probe test-deb-tools
	@.ci/test-deb $(DEB_PATH) $(COMMAND_PATH)/torpor $(SERVICE_PATH)/release/ClientProbe

# A client with the library, to measure the service with and to be killed.
client-probe: service
	@$(SERVICE_BUILD) --product ClientProbe

# Docs/Reference/service-cost.md.
bench-service: service-tools
	@$(MAKE) --no-print-directory client-probe >&2
	@.ci/bench-service $(SERVICE_PATH)/torpord $(SERVICE_PATH)/release/ClientProbe $(BENCH)

# Docs/HowTo/run-the-gates.md: kills the service at any moment, fills its disk, damages its ring.
torture: client-probe
	@.ci/torture-service $(SERVICE_PATH)/torpord $(SERVICE_PATH)/release/ClientProbe $(TORTURE)

# Docs/HowTo/check-arm64.md. Not part of continuous integration: it downloads 550 MB the first time.
arm64: arm64-tools
	@.ci/arm64 fetch $(ARM64_PATH)
	@echo '== torpord, ClientProbe and CoreProbe for arm64'
	@for product in torpord ClientProbe CoreProbe; do $(ARM64_BUILD) --product $$product || exit 1; done
	@$(SWIFT) build -c release --product CoreProbe
	@echo '== what the core makes of recordings and days, on both processors'
	@.ci/arm64 compare $(ARM64_PATH) .build/release
	@echo "== torpord in QEMU's user mode, killed 20 times"
	@.ci/arm64 serve $(ARM64_PATH)

# Docs/HowTo/virtual-board.md: Debian's kernel with gpio-sim in QEMU, and on it the service. No part of it may hang.
test-board: board-program
	@echo '== the virtual board'
	@SECONDS_AT_MOST='$(BOARD_SECONDS)' .ci/test-board .build/debug/TorporBoard $(BOARD_PATH) \
	  Tests/Boards/gpio-sim-m10/profile.toml --resets $(BOARD_RESETS) $(BOARD)

# Docs/HowTo/virtual-board.md: figures for the simulator to be held to; no test, and no part of continuous integration.
compare-board: board-program
	@echo '== torpord on the virtual board: an hour, thirty starts'
	@.build/debug/TorporBoard $(BOARD_PATH) Tests/Boards/gpio-sim-m10/profile.toml --compare $(COMPARE) > $(COMPARED); \
	  status=$$?; cat $(COMPARED); exit $$status
	@echo '== the same in the simulator'
	@.build/debug/TorporBoard --thirty-starts Tests/Boards/gpio-sim-m10/profile.toml

board-program: board-tools client-probe
	@.ci/board-kernel $(BOARD_PATH)/kernel
	@.ci/board-gpio $(BOARD_PATH)/gpio
	@.ci/board-image $(BOARD_PATH)/kernel $(BOARD_PATH)/initramfs $(SERVICE_PATH)/torpord $(SERVICE_PATH)/release/ClientProbe \
	  $(BOARD_PATH)/gpio/cgpio-check1 $(BOARD_PATH)/gpio/cgpio-check2
	@TORPOR_BOARD=1 $(SWIFT) build --product TorporBoard

# Docs/HowTo/fuzz.md. What is found stays in .build-fuzz/found.
fuzz: tools
	@FUZZ_SECONDS='$(FUZZ_SECONDS)' FUZZ_JOBS='$(FUZZ_JOBS)' SWIFT='$(SWIFT)' .ci/fuzz $(FUZZ)

# Docs/HowTo/run-the-gates.md. Without SOAK_SECONDS it goes on for a year, or until stopped; its seeds
# begin where the gate's end.
soak: soak-build
	@if [ -z '$(SOAK)' ]; then \
	  $(MAKE) --no-print-directory test-board BOARD_RESETS=50 BOARD_SECONDS=3000 BOARD='--only resets'; fi
	@echo '== random clients, services and faults'
	@$(SOAK_PATH)/release/TorporSoak $(or $(SOAK),--first 1001 --seconds $(or $(SOAK_SECONDS),31536000))

# The gate: so many seeds that they have five million fixes, whatever time they take.
soaked: soak-build
	@echo '== random clients, services and faults: every state and event of every machine'
	@$(SOAK_PATH)/release/TorporSoak --first 1 --runs $(SOAK_RUNS) --digests Tests/Snapshots/soak.digests

# Docs/HowTo/run-the-gates.md. What the first seeds do, and what the interfaces are, checked in: a change of either is
# meant, and is a commit of its own.
digests: soak-build
	@$(SOAK_PATH)/release/TorporSoak --first 1 --runs 200 --write-digests Tests/Snapshots/soak.digests

snapshots: tools
	@TORPOR_SNAPSHOTS=write $(SWIFT) test --filter 'SnapshotTests|BehaviourDigestTests|ImportTests'
	@git status --short Tests/Snapshots

# A build of its own, in which the machines mark what they reached (Docs/Decisions/0073).
soak-build: tools
	@TORPOR_SOAK=1 $(SWIFT) build -c release --scratch-path $(SOAK_PATH) --product TorporSoak

# Debian's and Ubuntu's packages; asked for only if the probe finds them missing.
tools:
	@.ci/install-missing build

bench-tools:
	@.ci/install-missing bench

service-tools:
	@.ci/install-missing service

arm64-tools: tools
	@.ci/install-missing arm64

board-tools:
	@.ci/install-missing board

deb-tools:
	@.ci/install-missing deb

test-deb-tools:
	@.ci/install-missing test-deb

firmware-tools:
	@.ci/install-missing firmware

clean:
	rm -rf .build .build-*
