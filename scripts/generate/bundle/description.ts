/** The page of the operator in a console: Markdown. */
export const DESCRIPTION = `Keeps workloads off nodes whose network is full.

The scheduler does not see how full a node's network is. This operator queries Prometheus for the bandwidth use of every
node, decides which nodes are fit, labels them, and keeps new pods of your workloads on the fit nodes. The status of the
\`TrafficWatch\` shows each decision and its reason.

### Namespace

Install it into \`traffic-operator-system\`: the rights name the namespaces of node-exporter and of the agents, which begin
with that of the operator. \`make bundle NAMESPACE=<another>\` writes a bundle for another namespace.

### Settings

By default the operator deploys node-exporter on every node, and a small Prometheus. Each flag is also an environment
variable, which a Subscription sets:

    spec:
      config:
        env:
          - name: TRAFFIC_OPERATOR_PROMETHEUS_URL
            value: http://prometheus.monitoring.svc:9090

### What is not in the bundle

OLM creates no admission policies. \`spec.targetRef\` and \`spec.podSelector\` of a TrafficWatch need that of
\`deploy/placement\`. Weights, stacks and the connectivity server need further rights, which the chart grants.

### Removal

OLM runs nothing before it removes an operator. Delete the TrafficWatches first, or run \`deploy/cleanup\` afterwards, which
removes the labels from the nodes and everything that the operator has deployed.
`;

interface KindDescription {
  description: string;
  /** Objects that belong to one of the kind, for consoles. */
  resources: { kind: string; version: string; name: string }[];
}

/** The kinds of the bundle. */
export const KINDS: Readonly<Record<string, KindDescription>> = {
  TrafficWatch: {
    description: 'A bandwidth threshold for nodes, and a workload whose pods are kept off nodes above it.',
    resources: [
      { kind: 'Deployment', version: 'apps/v1', name: '' },
      { kind: 'Node', version: 'v1', name: '' },
      { kind: 'Event', version: 'events.k8s.io/v1', name: '' },
    ],
  },
  ConnectivityCheck: {
    description: 'A check of the network between the nodes, which names the node, link or plane at fault.',
    resources: [
      { kind: 'Node', version: 'v1', name: '' },
      { kind: 'Event', version: 'events.k8s.io/v1', name: '' },
    ],
  },
};
