# traffic-operator: `make help` lists the targets. Every target does its own set-up.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# The Node.js that the lock file pins takes precedence over any other.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

include test/lab/lab.mk

.PHONY: help
help: ## Lists the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- set-up ---

# npm writes this file last, so it exists only after a complete install.
node_modules/.package-lock.json: package.json package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing: install Node.js with npm first (https://nodejs.org/en/download)' >&2; exit 1; }
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: setup
setup: node_modules/.package-lock.json ## Installs the npm packages, including the pinned Node.js
	@node scripts/requireNode.mjs

# --- every day ---

.PHONY: test
test: setup ## Runs every level: format, lint, layers, shell, generated, unit, tools, integration, chart, image, e2e (WITHOUT="e2e image" leaves some out, WITH="faults bench" adds those, ONLY="unit lint" runs no others)
	node scripts/test.ts --only "$(ONLY)" --with "$(WITH)" --without "$(WITHOUT)"

.PHONY: test-quick
test-quick: setup ## The quick loop, a minute or two: format, lint (with types), layers and the unit tests of src
	node scripts/test.ts --only "format lint layers unit"

.PHONY: test-times
test-times: setup ## Prints what the last run took: wall and CPU by level, and the slowest N (25) files
	@node scripts/test/run/times.ts --slowest $(or $(N),25)

.PHONY: structure
structure: setup ## Prints how large src is: files, lines, depth, imports of a later stage, circles (details: node scripts/structure.ts --details)
	@node scripts/structure.ts

.PHONY: test-faults
test-faults: setup ## Faults: servers are stopped, killed, slow or return wrong data; takes minutes
	node scripts/test.ts --only faults

.PHONY: test-long
test-long: setup ## All levels: the levels of test, faults, bench, and the long ones (scripts/test/longLevels.ts); takes an hour; records a success on a clean tree
	node scripts/test.ts --with "faults bench long"
	node scripts/test/record.ts
	node scripts/generate.ts

.PHONY: change
change: setup ## Prints the levels that .ci/run runs for the commits since their base (CI_BASE=COMMIT names it), what it leaves out, and why
	@node scripts/test/change.ts

.PHONY: test-guards
test-guards: setup ## Breaks guards one by one in a copy of the checkout; the test of each must fail (ONLY=weights, CHANGED=main and QUICK=1 choose some)
	node test/guards/main.ts $(if $(ONLY),--only "$(ONLY)") $(if $(CHANGED),--changed "$(CHANGED)") $(if $(QUICK),--quick)

.PHONY: test-goals
test-goals: setup ## The levels with clusters and servers, each goal in seconds a deadline, and stores away for ten minutes; for a machine that does nothing else
	GOALS=1 STORE_OUTAGE_SECONDS=600 node scripts/test.ts --only integration && GOALS=1 node scripts/test.ts --only e2e

.PHONY: soak-links
soak-links: setup ## Runs the operator over slow links with connection resets, for MINUTES (10); prints the measurements
	test/lab/build.sh k8s etcd prometheus toxiproxy
	node test/soak/links.ts

# NODES has a default for the lab (3 nodes), which does not apply here.
BENCH_NODES = $(if $(filter file,$(origin NODES)),10000,$(NODES))

.PHONY: bench
bench: build ## Measures the operator with NODES (10000) nodes and writes docs/performance/NODES.json; takes over an hour (WITHOUT="labelling many" leaves these parts out)
	test/lab/build.sh k8s etcd prometheus kwok
	node test/bench/main.ts --nodes $(BENCH_NODES) --without "$(WITHOUT)" --out docs/performance/$(BENCH_NODES).json
	node scripts/generate.ts

.PHONY: bench-quick
bench-quick: build ## Counts calls and connections for 1,000 nodes; fails if they exceed their limits
	test/lab/build.sh k8s etcd prometheus
	node test/bench/main.ts --quick

.PHONY: bench-admission
bench-admission: setup ## Measures what the placement policy costs the creation of a pod with 0, 1, 200 and 1,000 TrafficWatches in its namespace; takes minutes; fails if many cost more than 1.2 times one
	test/lab/build.sh k8s etcd
	node test/bench/admission.ts

.PHONY: bench-connectivity
bench-connectivity: build ## Measures the connectivity server with 1,000 agents at 15 s and 10,000 at 60 s, and the agent with 10 peers at 30 s; writes docs/performance/connectivity*.json; takes half an hour; fails if a goal is missed
	test/lab/build.sh k8s etcd
	missed=0; node test/bench/connectivity/main.ts --out docs/performance/connectivity.json || missed=1; \
	node test/bench/connectivity/agentMain.ts --out docs/performance/connectivity-agent.json || missed=1; \
	node scripts/generate.ts && exit $$missed

.PHONY: bench-weights
bench-weights: build ## Measures a changed DNS weight with INGRESSES (5000) Ingresses; writes docs/performance/weights.json; takes a quarter of an hour; fails if a goal is missed: 1.3 times the PATCHes alone, 0 writes in a quiet minute
	test/lab/build.sh k8s etcd external-dns
	node test/bench/weights/main.ts --out docs/performance/weights.json && missed=0 || missed=1; node scripts/generate.ts && exit $$missed

.PHONY: bench-stacks
bench-stacks: setup ## Measures the plan of a TrafficStack with 200 components and 2,000 dependencies, and counts the requests of 20 idle stacks; writes docs/performance/stacks.json; takes three minutes; fails if a goal is missed
	test/lab/build.sh k8s etcd prometheus
	node test/bench/stacks/main.ts --out docs/performance/stacks.json && missed=0 || missed=1; node scripts/generate.ts && exit $$missed
	npx vitest run --project integration test/integration/stacks/idle.test.ts

.PHONY: bench-late
bench-late: setup ## Measures what the query for late samples costs passes over SIZES (1000 10000) nodes; writes docs/performance/late.json; takes nine minutes; fails if a 99th percentile is above 1.15 times the one without the query
	test/lab/build.sh prometheus
	node test/bench/late/main.ts --out docs/performance/late.json && missed=0 || missed=1; node scripts/generate.ts && exit $$missed

.PHONY: accuracy
accuracy: setup ## Measures which simulated faults the connectivity check finds, and which other methods find; writes the tables in docs/connectivity.md; takes a few minutes
	FULL_SAMPLES=1 npx vitest run --project unit --update=all src/connectivity/localise/faultSets.test.ts

.PHONY: bench-effect
bench-effect: setup ## Measures what a full link costs a workload without and with the operator, in the lab; writes docs/effect/result.json; takes about ten minutes
	node test/bench/effect/main.ts --out docs/effect/result.json
	node scripts/generate.ts

.PHONY: soak-memory
soak-memory: build ## Checks whether memory grows while NODES (10000) nodes come and go, for MINUTES (120); writes docs/performance/soak.json
	test/lab/build.sh k8s etcd prometheus
	node test/soak/memory.ts --nodes $(BENCH_NODES) --minutes $(or $(MINUTES),120) --out docs/performance/soak.json
	node scripts/generate.ts

.PHONY: lint
lint: setup ## Format, lint (with types), layer rules and shell scripts (shellcheck) only
	node scripts/test.ts --only "format lint layers shell"

.PHONY: unit
unit: setup ## Unit tests only, also of scripts, demo and benchmarks
	node scripts/test.ts --only "unit tools"

# --- into a cluster ---

# The images to deploy, and the namespace; default: as in deploy/. No registry has the images.
export IMG CATALOG_IMG NAMESPACE OLM_RELEASE
BUNDLE_DIR = $(if $(IMG)$(NAMESPACE)$(WITHOUT),dist/bundle,bundle)

.PHONY: install
install: ## Installs the CRDs into the cluster of the kubeconfig
	scripts/cluster.sh install

.PHONY: uninstall
uninstall: ## Removes the CRDs, and with them every object of their kinds: first delete your TrafficStacks, or all their workloads go in no order
	scripts/cluster.sh uninstall

.PHONY: deploy
deploy: ## Deploys the operator without helm and OLM, with weights, too (IMG=registry/traffic-operator:0.1.0 and NAMESPACE=traffic-operator-system name others)
	scripts/cluster.sh deploy

.PHONY: undeploy
undeploy: ## Removes what deploy has installed, the node labels, and all that the operator has deployed
	scripts/cluster.sh undeploy

.PHONY: bundle
bundle: generate ## Writes bundle/ for OLM and validates it; with IMG, NAMESPACE or WITHOUT=weights it writes dist/bundle so
	test/lab/build.sh opm
	node scripts/olm/bundle.ts $(if $(IMG),--image $(IMG)) $(if $(NAMESPACE),--namespace $(NAMESPACE)) $(addprefix --without ,$(WITHOUT))

.PHONY: catalog
catalog: bundle ## Writes and validates dist/catalog, a file-based catalog, and its Dockerfile (BUNDLES="older newer" names other bundles)
	node scripts/olm/catalog.ts --out dist/catalog $(or $(BUNDLES),$(BUNDLE_DIR))

.PHONY: olm-install
olm-install: ## Installs OLM itself (OLM_RELEASE names a folder or URL with another release)
	scripts/cluster.sh olm-install

.PHONY: olm-deploy
olm-deploy: ## Deploys the operator by OLM from the catalog image (CATALOG_IMG=registry/traffic-operator-catalog:0.1.0)
	scripts/cluster.sh olm-deploy

.PHONY: olm-undeploy
olm-undeploy: ## Removes what olm-deploy has installed, the node labels, and all that the operator has deployed
	scripts/cluster.sh olm-undeploy

# --- files ---

.PHONY: generate
generate: setup ## Writes the generated files: CRDs, chart values and schema, dashboards, bundle/, deploy/, prometheus/, tables in docs/
	node scripts/generate.ts

.PHONY: verify
verify: setup ## Fails if a generated file is stale or the working tree is not clean
	node scripts/verify.ts

.PHONY: format
format: setup ## Formats all files with prettier
	npm run --silent format

.PHONY: build
build: setup ## Bundles the operator into dist/
	node scripts/build.ts

.PHONY: image
image: setup ## Builds the container image with buildah; prints the path of the archive
	test/image/build.sh

.PHONY: demo
demo: setup ## Shows the operator in a real cluster on this machine, with real traffic
	node test/demo/demo.ts

.PHONY: demo-stack
demo-stack: setup ## Shows a TrafficStack with OpenSDN's components on three masters and three workers: bring-up, upgrade, a lost master, removal
	node test/demo/stack/stackDemo.ts

.PHONY: clean
clean: ## Removes all files that builds and tests leave in the checkout
	rm -rf dist reports coverage .cache node_modules
