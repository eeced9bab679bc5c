# traffic-operator: `make help` lists the targets. Every target does the set-up that it needs.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# The Node that the lock file pins comes before any other.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

include test/lab/lab.mk

.PHONY: help
help: ## Lists the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- set-up ---

# npm writes this file last, so it tells that the install was complete.
node_modules/.package-lock.json: package.json package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing: install Node.js with npm first (https://nodejs.org/en/download)' >&2; exit 1; }
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: setup
setup: node_modules/.package-lock.json ## Installs the npm packages and with them the Node that is used
	@node scripts/requireNode.mjs

# --- every day ---

.PHONY: test
test: setup ## Runs every level: format, lint, types, layers, shell, generated, unit, integration, chart, image, e2e (WITHOUT="e2e image" leaves some out, WITH="faults bench" adds those)
	node scripts/test.ts --with "$(WITH)" --without "$(WITHOUT)"

.PHONY: test-quick
test-quick: setup ## The quick loop, a minute or two: format, lint, types, layers and unit
	node scripts/test.ts --only "format lint types layers unit"

.PHONY: test-faults
test-faults: setup ## Faults that take minutes: servers stopped, killed, slow, lying
	node scripts/test.ts --only faults

.PHONY: soak-links
soak-links: setup ## The operator over slow links that break now and then, for MINUTES (10); prints what it measured
	test/lab/build.sh k8s etcd prometheus toxiproxy
	node test/soak/links.ts

# The lab's own default, 3 nodes, is none to measure.
BENCH_NODES = $(if $(filter file,$(origin NODES)),10000,$(NODES))

.PHONY: bench
bench: build ## Measures the operator on a cluster of NODES (10000) nodes and writes docs/performance/NODES.json; takes over an hour (WITHOUT="labelling many" leaves these out)
	test/lab/build.sh k8s etcd prometheus kwok
	node test/bench/main.ts --nodes $(BENCH_NODES) --without "$(WITHOUT)" --out docs/performance/$(BENCH_NODES).json
	node scripts/generate.ts

.PHONY: bench-quick
bench-quick: build ## Counts what 1,000 nodes cost in calls and connections; fails when it is more than it should be
	test/lab/build.sh k8s etcd prometheus
	node test/bench/main.ts --quick

.PHONY: soak-memory
soak-memory: build ## Whether the operator's memory grows while NODES (10000) nodes come and go, for MINUTES (120); writes docs/performance/soak.json
	test/lab/build.sh k8s etcd prometheus
	node test/soak/memory.ts --nodes $(BENCH_NODES) --minutes $(or $(MINUTES),120) --out docs/performance/soak.json
	node scripts/generate.ts

.PHONY: lint
lint: setup ## Format, lint, types and layer rules only
	node scripts/test.ts --only "format lint types layers shell"

.PHONY: unit
unit: setup ## Unit tests only
	node scripts/test.ts --only unit

.PHONY: generate
generate: setup ## Writes the files that are made from others: CRDs, chart values schema, deploy/, prometheus/, docs tables
	node scripts/generate.ts

.PHONY: verify
verify: setup ## Fails when a generated file is not current or the working tree is not clean
	node scripts/verify.ts

.PHONY: format
format: setup ## Formats what prettier formats
	npm run --silent format

.PHONY: build
build: setup ## Bundles the operator into dist/
	node scripts/build.ts

.PHONY: image
image: setup ## Builds the container image by buildah; prints the archive's path
	test/image/build.sh

.PHONY: demo
demo: setup ## A real cluster on this machine, real traffic, and the operator at work
	node test/demo/demo.ts

.PHONY: clean
clean: ## Removes what builds and tests leave in the checkout
	rm -rf dist reports coverage .cache node_modules
