# A real cluster on this machine, without Docker; see test/lab/README.md.
NODES ?= 3
TRAFFIC_LAB_DIR ?= /var/lib/traffic-lab

.PHONY: lab-build lab-up lab-down lab-add-node lab-remove-node lab-kubectl

lab-build: ## Builds the programs and images of the lab, cached outside the checkout
	test/lab/prerequisites.sh
	test/lab/build.sh
	test/lab/images.sh

lab-up: ## Starts a cluster on this machine: make lab-up NODES=3
	test/lab/up.sh $(NODES)

lab-down: ## Takes the cluster down
	test/lab/down.sh

lab-add-node: ## Adds a node to the running cluster
	test/lab/add-node.sh

lab-remove-node: ## Removes a node from the running cluster: make lab-remove-node NAME=node3
	test/lab/remove-node.sh $(NAME)

lab-kubectl: ## Runs kubectl on the cluster: make lab-kubectl ARGS='get nodes'
	@"$$(test/lab/build.sh --print-bin)/kubectl" --kubeconfig=$(TRAFFIC_LAB_DIR)/kubeconfig \
	  --cache-dir=$(TRAFFIC_LAB_DIR)/kubectl-cache $(ARGS)
