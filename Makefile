# All commands for this repository. Developers and continuous integration use the same ones.

SWIFT ?= swift
# Options of `torpor simulate` for `make run`.
RUN ?= --board imx8mm-max-m8q --service visits

# Built as Embedded Swift without allocations. The engine depends on every module below it; a test
# (Tests/ArchitectureTests) checks that these modules depend on all modules of the core.
EMBEDDED_MODULES := LocationEngine LocationHAL
EMBEDDED_PATH := .build-embedded
SOAK_PATH := .build-soak
SOAK_RUNS := 600
# Service and command as they are installed: Swift's and C++'s libraries are linked statically, unused libraries are not linked
# (Docs/Reference/service-cost.md), and each program is optimized as a whole, without the checks for
# exclusive access that the tests have (Docs/Decisions/0115-link-time-optimization.md).
SERVICE_PATH := .build-service
INSTALLED_BUILD = $(SWIFT) build -c release --static-swift-stdlib \
  --experimental-lto-mode full -Xswiftc -use-ld=lld $(SERVICE_CHECKS) \
  -Xlinker --no-export-dynamic -Xlinker --icf=safe -Xlinker -zpack-relative-relocs
SERVICE_BUILD = $(INSTALLED_BUILD) --scratch-path $(SERVICE_PATH) \
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import \
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-concurrency-module-import
# To check exclusive access as well: make torture SERVICE_PATH=.build-checked SERVICE_CHECKS=
SERVICE_CHECKS := -Xswiftc -enforce-exclusivity=unchecked

# The virtual board: kernel and initramfs are kept here between runs.
BOARD_PATH := .build-board
BOARD_RESETS ?= 8
# Limit of each lane in host time, against a hang. Limits of the scenarios are in the guest's time.
BOARD_SECONDS ?= 1800
# The output of `make compare-board`.
COMPARED := $(BOARD_PATH)/compared.json
# The command that `make install` installs. `make test` has built it already (PREBUILT).
COMMAND := $(if $(PREBUILT),.build/debug/torpor,.build/release/torpor)
# The target that builds it, if necessary.
COMMAND_BUILD = $(if $(filter .build/release/torpor,$(COMMAND)),release)
# The command as it is packaged: statically linked with Swift's libraries.
COMMAND_PATH := .build-command
DEB_PATH := .build-deb
# The build of the library that `make install-swift` installs.
PREFIX_PATH := .build-swift
CHECK_PATH := .build-check
# The brokers of `make test-uplink`: mosquitto, nats, rabbitmq, or several.
BROKERS ?= mosquitto nats rabbitmq
UPLINK_PATH := .build-uplink
FRESH_PATH := .build-fresh
# Options of `make mutate`.
SEED ?= 1
COUNT ?= 50
# An SDK for arm64 from Debian's packages, the build with it, and the output of its programs.
ARM64_PATH := .build-arm64
ARM64_BUILD = TORPOR_ARM64=1 $(SWIFT) build -c release --scratch-path $(ARM64_PATH)/build \
  --swift-sdks-path $(ARM64_PATH)/sdks --swift-sdk torpor-arm64

.DEFAULT_GOAL := help
.PHONY: help run test check methods snapshots digests unit test-fresh build bench fuzz soak soaked lint format embedded tests process-tests interface release training boards firmware clean tools mutate mutate-tools \
  soak-build bench-tools firmware-tools completions man install install-swift uninstall service bench-service \
  service-tools arm64 arm64-tools torture client-probe test-board compare-board board-program board-tools test-clock clock-tools command deb deb-tools test-deb test-deb-tools \
  test-gpsd gpsd-tools

# Installation folders, below DESTDIR, which package builds set.
PREFIX ?= /usr/local
DESTDIR ?=
BIN := $(DESTDIR)$(PREFIX)/bin
SHARE := $(DESTDIR)$(PREFIX)/share
UNITS := $(DESTDIR)$(PREFIX)/lib/systemd/system

help:
	@echo 'make run       install what is missing, build, run a simulated day on the default board'
	@echo 'make test      all gates: lint, Embedded build, tests, firmware, boards, random runs (VERBOSE=1 prints all)'
	@echo 'make check     the fast loop: lint, Embedded build, tests without processes and real time'
	@echo 'make test-fresh  make run and make test in a new Debian with only the toolchain; as root'
	@echo 'make bench     instructions, time and heap allocations of the hot paths (BENCH=--json)'
	@echo 'make bench-service  the cost of torpord, compared with gpsd and its bounds (BENCH=--json)'
	@echo 'make torture   kills torpord and clients at random times, fills its disk, damages its ring (TORTURE="--kills N")'
	@echo 'make test-gpsd  programs written for gpsd, on torpord and on gpsd; as root (GPSD="--full --only cgps")'
	@echo 'make test-clock  the system clock by chronyd, which does not set it: UBX, NMEA, restart, suspend, busy; as root'
	@echo 'make test-board  torpord on a virtual board: GPIO, receiver, suspend, resets (BOARD="--only batch")'
	@echo 'make compare-board  an hour with thirty starts on the virtual board and in the simulator, side by side'
	@echo 'make fuzz      searches for input that breaks a decoder (FUZZ_SECONDS=60 for each; FUZZ="ring ubx")'
	@echo 'make mutate    changes the core at random places and runs the tests: SEED=1 COUNT=50 (MODULE=DeferralCache)'
	@echo 'make soaked    only the random runs of the gate: the same seeds each time'
	@echo 'make methods   rewrites the calls of the socket in Swift, from its interface description'
	@echo 'make snapshots  rewrites the checked-in copies of all interfaces; make digests rewrites the digests of behaviour'
	@echo 'make soak      random clients and faults until stopped (SOAK_SECONDS=600, SOAK="--seed N")'
	@echo 'make training  the library of the programs that train the exit network (Sources/Lab/Training)'
	@echo 'make lint      only the style check      make format    formats the sources'
	@echo 'make embedded  only the Embedded build   make tests     only the tests in virtual time'
	@echo 'make process-tests  only the tests of processes and of real time'
	@echo 'make interface only the interface file of the socket, if Python has a varlink package'
	@echo 'make boards    only the boards           make clean     removes all build folders'
	@echo 'make firmware  the core on a Cortex-M4 and an aarch64 in QEMU: its self-test and its size'
	@echo 'make arm64     builds for arm64 with Debian sid (downloads 550 MB once), compares with this machine, runs torpord in QEMU'
	@echo 'make install-swift  the module CoreLocation for this compiler: import CoreLocation in any package (PREFIX=, DESTDIR=)'
	@echo 'make install   programs, boards, unit, manual pages, completions (PREFIX=/usr/local, DESTDIR=)'
	@echo 'make deb       a Debian package of these files in .build-deb'
	@echo 'make test-deb  installs, runs, upgrades, removes and purges that package in a minimal Debian; as root'
	@echo 'make service   only torpord, as it is installed'
	@echo 'make man       only the manual page      make completions  only the completions of bash, zsh, fish'

run: release
	@.build/release/torpor simulate $(RUN)

# Every gate, with failed and skipped ones in the last lines. VERBOSE=1 prints all output.
test:
	@SWIFT='$(SWIFT)' .ci/test

# The fast loop of a developer: style, the Embedded build, and the tests without processes and real time.
check:
	@SWIFT='$(SWIFT)' .ci/test check

# A smaller package (Package.swift), whose test bundle links and runs faster.
unit: tools
	@echo '== tests of the core and the simulated board'
	@TORPOR_CHECK=1 $(SWIFT) test --scratch-path $(CHECK_PATH)

# A Debian with only the toolchain, git and make; as root. Not part of continuous integration.
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

# Suites with a tag: they wait for processes, timers and pseudo-terminals, so they run separately from tests that
# compute.
process-tests: tools
	@echo '== tests of processes and of real time'
	@suites=$$(.ci/tagged-suites) && $(SWIFT) test $(if $(PREBUILT),--skip-build) --filter "$$suites"

# The socket's interface file and the examples of its page, with an independent library; the messages of the uplink, with
# an independent decoder.
interface:
	@echo "== the interfaces of the socket and the uplink"
	@if command -v python3 >/dev/null 2>&1; then .ci/check-payload && .ci/check-interface; \
	else echo 'skipped: python3 is missing (apt-get install python3)'; fi

# After the tests, whose build contains the objects for this machine's run of the self-test.
firmware: tools firmware-tools
	@echo '== the core on a Cortex-M4 and an aarch64'
	@SWIFT='$(SWIFT)' PREBUILT='$(PREBUILT)' .ci/firmware $(EMBEDDED_MODULES)

release: tools
	@echo '== release build'
	@$(SWIFT) build -c release --product torpor

# Sources/Lab/Training/README.md.
training: tools
	@$(SWIFT) build -c release --product TrainingCore

# Uses the tests' build.
boards: tools
	@echo '== every board simulates an hour'
	@$(if $(PREBUILT),:,$(SWIFT) build --product torpor)
	@.ci/check-boards .build/debug/torpor

# The command's manual page and completions; each is checked with its own program, if that is installed.
man: $(COMMAND_BUILD)
	@echo '== manual page'
	@mkdir -p .build/man
	@$(COMMAND) manual > .build/man/torpor.1
	@if command -v mandoc >/dev/null 2>&1; then mandoc -T lint -W warning .build/man/torpor.1 packaging/torpord.8 packaging/torpor-gpsd.8 packaging/torpor-uplink.8; \
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

# `make install` as root must not build as root, so it installs existing files.
install:
	@test -x $(COMMAND) -a -f .build/man/torpor.1 -a -f .build/completions/_torpor \
	  -a -f .build/completions/torpor.bash -a -f .build/completions/torpor.fish || \
	  $(MAKE) --no-print-directory man completions
	@test -x $(SERVICE_PATH)/torpord -a -x $(SERVICE_PATH)/torpor-gpsd -a -x $(SERVICE_PATH)/torpor-uplink || $(MAKE) --no-print-directory service
	install -d '$(BIN)' '$(UNITS)' '$(SHARE)/man/man1' '$(SHARE)/man/man8' '$(SHARE)/doc/torpor' \
	  '$(SHARE)/bash-completion/completions' '$(SHARE)/zsh/site-functions' '$(SHARE)/fish/vendor_completions.d'
	install -m 755 $(COMMAND) '$(BIN)/torpor'
	install -m 755 $(SERVICE_PATH)/torpord '$(BIN)/torpord'
	install -m 755 $(SERVICE_PATH)/torpor-gpsd '$(BIN)/torpor-gpsd'
	install -m 755 $(SERVICE_PATH)/torpor-uplink '$(BIN)/torpor-uplink'
	sed 's|@BIN@|$(PREFIX)/bin|' packaging/torpor-uplink.service > '$(UNITS)/torpor-uplink.service'
	chmod 644 '$(UNITS)/torpor-uplink.service'
	sed 's|@BIN@|$(PREFIX)/bin|' packaging/torpor-gpsd.service > '$(UNITS)/torpor-gpsd.service'
	install -m 644 packaging/torpor-gpsd.socket '$(UNITS)/torpor-gpsd.socket'
	chmod 644 '$(UNITS)/torpor-gpsd.service'
	sed 's|@BIN@|$(PREFIX)/bin|' packaging/torpord.service > '$(UNITS)/torpord.service'
	chmod 644 '$(UNITS)/torpord.service'
	install -m 644 .build/man/torpor.1 '$(SHARE)/man/man1/torpor.1'
	install -m 644 packaging/torpord.8 '$(SHARE)/man/man8/torpord.8'
	install -m 644 packaging/torpor-gpsd.8 '$(SHARE)/man/man8/torpor-gpsd.8'
	install -m 644 packaging/torpor-uplink.8 '$(SHARE)/man/man8/torpor-uplink.8'
	install -m 644 packaging/uplink.toml '$(SHARE)/doc/torpor/uplink.toml'
	install -m 644 packaging/clients.toml '$(SHARE)/doc/torpor/clients.toml'
	install -m 644 packaging/torpord-sleep.conf '$(SHARE)/doc/torpor/torpord-sleep.conf'
	install -m 644 packaging/chrony.conf packaging/chrony-torpor.conf packaging/torpord-clock.conf '$(SHARE)/doc/torpor/'
	install -m 644 .build/completions/torpor.bash '$(SHARE)/bash-completion/completions/torpor'
	install -m 644 .build/completions/_torpor '$(SHARE)/zsh/site-functions/_torpor'
	install -m 644 .build/completions/torpor.fish '$(SHARE)/fish/vendor_completions.d/torpor.fish'
	for board in Boards/*/; do \
	  install -d "$(SHARE)/torpor/$$board" && \
	  install -m 644 "$$board"* "$(SHARE)/torpor/$$board" || exit 1; \
	done

# Docs/Reference/core-location.md: the module CoreLocation for this machine's compiler. As root, or with PREFIX=$HOME/.local.
install-swift:
	@.ci/install-missing swift
	@echo '== the module CoreLocation'
	@SWIFT='$(SWIFT)' SCRATCH='$(CURDIR)/$(PREFIX_PATH)' DESTDIR='$(DESTDIR)' packaging/install-swift '$(PREFIX)'

uninstall:
	rm -f '$(BIN)/torpor' '$(BIN)/torpord' '$(BIN)/torpor-gpsd' '$(BIN)/torpor-uplink' '$(UNITS)/torpord.service' \
	  '$(UNITS)/torpor-uplink.service' '$(SHARE)/man/man8/torpor-uplink.8' '$(UNITS)/torpor-gpsd.service' '$(UNITS)/torpor-gpsd.socket' \
	  '$(SHARE)/man/man1/torpor.1' '$(SHARE)/man/man8/torpord.8' '$(SHARE)/man/man8/torpor-gpsd.8' \
	  '$(SHARE)/bash-completion/completions/torpor' '$(SHARE)/zsh/site-functions/_torpor' \
	  '$(SHARE)/fish/vendor_completions.d/torpor.fish'
	rm -rf '$(SHARE)/torpor' '$(SHARE)/doc/torpor' '$(DESTDIR)$(PREFIX)/lib/torpor/swift'

bench: tools bench-tools
	@$(SERVICE_BUILD) --product TorporBench >&2
	@strip -o $(SERVICE_PATH)/TorporBench $(SERVICE_PATH)/release/TorporBench # older versions of valgrind cannot parse DWARF 5
	@$(SERVICE_PATH)/TorporBench $(BENCH)

# The linker searches the build folder before the system's folders, so these links select static libraries.
service: tools
	@echo '== the service'
	@bin=$$($(SERVICE_BUILD) --show-bin-path) && mkdir -p "$$bin" && \
	for names in libstdc++.a:libstdc++.a libgcc_eh.a:libgcc_s.a; do \
	  found=$$(cc -print-file-name="$${names%:*}") && \
	  if [ -f "$$found" ]; then ln -sf "$$found" "$$bin/$${names#*:}"; fi; \
	done && \
	$(SERVICE_BUILD) --product torpord && strip -o $(SERVICE_PATH)/torpord "$$bin/torpord" && \
	$(SERVICE_BUILD) --product torpor-gpsd && strip -o $(SERVICE_PATH)/torpor-gpsd "$$bin/torpor-gpsd" && \
	$(SERVICE_BUILD) --product torpor-uplink && strip -o $(SERVICE_PATH)/torpor-uplink "$$bin/torpor-uplink"

command: tools
	@echo '== the command, statically linked'
	@$(INSTALLED_BUILD) --scratch-path $(COMMAND_PATH) --product torpor
	@strip -o $(COMMAND_PATH)/torpor "$$($(INSTALLED_BUILD) --scratch-path $(COMMAND_PATH) --show-bin-path)/torpor"

# Docs/HowTo/run-the-service.md.
deb: service command deb-tools
	@$(MAKE) --no-print-directory man completions COMMAND=$(COMMAND_PATH)/torpor
	@echo '== the package'
	@mkdir -p $(DEB_PATH)
	@.ci/make-deb $(DEB_PATH) $(COMMAND_PATH)/torpor

# Docs/HowTo/run-the-gates.md. Two packages of the same programs, with different versions.
test-deb: deb client-probe test-deb-tools
	@.ci/test-deb $(DEB_PATH) $(COMMAND_PATH)/torpor $(SERVICE_PATH)/release/ClientProbe

# A client program with the library, for measurements and for tests that kill it.
client-probe: service
	@$(SERVICE_BUILD) --product ClientProbe

# Docs/Reference/service-cost.md.
bench-service: service-tools
	@$(MAKE) --no-print-directory client-probe >&2
	@$(SWIFT) build -c release --static-swift-stdlib --product CoreLocationProbe >&2
	@.ci/bench-service $(SERVICE_PATH)/torpord $(SERVICE_PATH)/release/ClientProbe \
	  .build/release/CoreLocationProbe $(BENCH)

# Docs/HowTo/run-the-gates.md: programs written for gpsd, on torpord and on gpsd; as root. With PREBUILT, the tests' build.
test-gpsd: $(if $(PREBUILT),,service) gpsd-tools
	@echo "== gpsd's clients"
	@.ci/test-gpsd $(if $(PREBUILT),.build/debug/torpord .build/debug/torpor-gpsd,$(SERVICE_PATH)/torpord $(SERVICE_PATH)/torpor-gpsd) $(GPSD)
# Docs/HowTo/run-the-gates.md: the system clock, with Debian's chronyd, which does not set it. As root.
test-clock: clock-tools tools
	@$(SWIFT) build --product torpord >&2
	@.ci/test-clock .build/debug/torpord $(CLOCK)

# Docs/HowTo/run-the-gates.md: kills the service at random times, fills its disk, damages its ring.
torture: client-probe
	@.ci/torture-service $(SERVICE_PATH)/torpord $(SERVICE_PATH)/release/ClientProbe $(TORTURE)

# Docs/HowTo/check-arm64.md. Not part of continuous integration: it downloads 550 MB the first time.
arm64: arm64-tools
	@.ci/arm64 fetch $(ARM64_PATH)
	@echo '== torpord, ClientProbe and CoreProbe for arm64'
	@for product in torpord ClientProbe CoreProbe; do $(ARM64_BUILD) --product $$product || exit 1; done
	@$(SWIFT) build -c release --product CoreProbe
	@echo '== output of the core for recordings and days, on both processors'
	@.ci/arm64 compare $(ARM64_PATH) .build/release
	@echo "== torpord in QEMU's user mode, killed 20 times"
	@.ci/arm64 serve $(ARM64_PATH)

# Docs/HowTo/virtual-board.md: the service on Debian's kernel with gpio-sim in QEMU. Every part has a time limit.
test-board: board-program
	@echo '== the virtual board'
	@SECONDS_AT_MOST='$(BOARD_SECONDS)' .ci/test-board .build/debug/TorporBoard $(BOARD_PATH) \
	  Tests/Boards/gpio-sim-m10/profile.toml --resets $(BOARD_RESETS) $(BOARD)

# Docs/HowTo/virtual-board.md: measurements to compare with the simulator; not a test, not part of continuous integration.
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

# Docs/HowTo/run-a-store.md. It installs three brokers and PostgreSQL; continuous integration runs UPLINK=--kills with NATS.
test-uplink: uplink-tools
	@$(if $(PREBUILT),:,$(SWIFT) build --product torpord && $(SWIFT) build --product torpor-uplink && $(SWIFT) build --product torpor)
	@echo '== the uplink, the store and the access rules of the brokers'
	@.ci/test-uplink '$(CURDIR)/$(UPLINK_PATH)' .build/debug $(UPLINK) $(BROKERS)

# Docs/HowTo/fuzz.md. Failing inputs stay in .build-fuzz/found.
fuzz: tools
	@FUZZ_SECONDS='$(FUZZ_SECONDS)' FUZZ_JOBS='$(FUZZ_JOBS)' SWIFT='$(SWIFT)' .ci/fuzz $(FUZZ)

# Docs/HowTo/run-the-gates.md. Not part of continuous integration.
mutate: tools mutate-tools
	@SWIFT='$(SWIFT)' python3 -B Sources/Lab/Mutation/mutate.py --seed '$(SEED)' --count '$(COUNT)' \
	  $(if $(MODULE),--modules '$(MODULE)')

# Docs/HowTo/run-the-gates.md. Without SOAK_SECONDS it runs for a year, or until stopped; its seeds
# begin after those of the gate.
soak: soak-build
	@if [ -z '$(SOAK)' ]; then \
	  $(MAKE) --no-print-directory test-board BOARD_RESETS=50 BOARD_SECONDS=3000 BOARD='--only resets'; fi
	@echo '== random clients, services and faults'
	@$(SOAK_PATH)/release/TorporSoak $(or $(SOAK),--first 1001 --seconds $(or $(SOAK_SECONDS),31536000))

# The gate: enough seeds for five million fixes, without a time limit.
soaked: soak-build
	@echo '== random clients, services and faults: every state and event of every machine'
	@$(SOAK_PATH)/release/TorporSoak --first 1 --runs $(SOAK_RUNS) --digests Tests/Snapshots/soak.digests

# Docs/HowTo/run-the-gates.md. The behaviour of the first seeds and the interfaces are checked in: a change of either
# must be intended, and is a separate commit.
digests: soak-build
	@$(SOAK_PATH)/release/TorporSoak --first 1 --runs 200 --write-digests Tests/Snapshots/soak.digests

# The calls of the socket, from its interface description (Docs/HowTo/add-a-method.md).
methods: tools
	@$(SWIFT) run --quiet InterfaceGenerator

snapshots: methods
	@TORPOR_SNAPSHOTS=write $(SWIFT) test --filter 'SnapshotTests|BehaviourDigestTests|ImportTests|GeneratorTests'
	@git status --short Tests/Snapshots

# A separate build, in which the state machines record the reached pairs (Docs/Decisions/0073).
soak-build: tools
	@TORPOR_SOAK=1 $(SWIFT) build -c release --scratch-path $(SOAK_PATH) --product TorporSoak

# Debian's and Ubuntu's packages; installs only missing ones.
tools:
	@.ci/install-missing build

bench-tools:
	@.ci/install-missing bench

service-tools:
	@.ci/install-missing service

clock-tools:
	@.ci/install-missing clock

arm64-tools: tools
	@.ci/install-missing arm64

board-tools:
	@.ci/install-missing board

deb-tools:
	@.ci/install-missing deb

test-deb-tools:
	@.ci/install-missing test-deb

gpsd-tools:
	@.ci/install-missing gpsd

uplink-tools:
	@.ci/install-missing $(if $(filter --kills,$(UPLINK)),uplink-kills,uplink)

mutate-tools:
	@.ci/install-missing mutate

firmware-tools:
	@.ci/install-missing firmware

clean:
	rm -rf .build .build-*
