/** The text of the page about a kind that the bundle need not have: its purpose, its rights, and its flag. */
const OPTIONAL: Readonly<Record<string, string>> = {
  TrafficWeight: `A \`TrafficWeight\` gives DNS records their weight, which external-dns publishes. For it, the Deployment
\`traffic-operator-weights\`, with a ServiceAccount of its own, may create, change and delete DNSEndpoints in every namespace, and read
Ingresses, HTTPRoutes and the ConfigMaps of its own namespace.
Without external-dns nothing happens. \`TRAFFIC_OPERATOR_WEIGHTS\` set to \`false\` switches it off.`,
};

/**
 * The page of the operator in a console: Markdown.
 *
 * @param kinds that the bundle has
 */
export function describe(kinds: readonly string[]): string {
  const texts = kinds.flatMap((kind) => OPTIONAL[kind] ?? []);
  if (texts.length === 0) return INTRODUCTION + REST;
  const rights = 'OLM grants these rights in any case. A bundle without them: `make bundle WITHOUT=weights`.';
  return `${INTRODUCTION}### Weights\n\n${[...texts, rights].join('\n\n')}\n\n${REST}`;
}

const INTRODUCTION = `Keeps workloads off nodes whose network is full.

The scheduler does not see how full a node's network is. This operator queries Prometheus for the bandwidth use of every
node, decides which nodes are fit, labels them, and keeps new pods of your workloads on the fit nodes. The status of the
\`TrafficWatch\` shows each decision and its reason.

### Namespace

Install it into \`traffic-operator-system\`: the rights name the namespaces of node-exporter and of the agents, which begin
with the name of the operator's namespace. \`make bundle NAMESPACE=<another>\` writes a bundle for another namespace.

`;

const REST = `### Settings

By default the operator uses the node-exporter and the Prometheus that the cluster has, or deploys them: node-exporter on every
node, and a small Prometheus. Each flag is also an environment variable, which a Subscription sets:

    spec:
      config:
        env:
          - name: TRAFFIC_OPERATOR_PROMETHEUS_URL
            value: http://prometheus.monitoring.svc:9090

### Stacks

The stack \`default\` has what the operator deploys. Stacks of users are off: \`kubectl apply -k deploy/stacks\` of the sources gives
the rights, and \`TRAFFIC_OPERATOR_STACKS\` set to \`true\` switches them on.

### What is not in the bundle

OLM creates no admission policies. \`spec.targetRef\` and \`spec.podSelector\` of a TrafficWatch need the policy in
\`deploy/placement\`. The connectivity server needs further rights, which \`deploy/connectivity\` grants.

### Removal

OLM runs nothing before it removes an operator. Delete the objects of its kinds first, or run \`deploy/cleanup\` afterwards, which
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
  PodPlacement: {
    description: 'What the operator hands to its admission policy for the pods of a namespace. Only the operator writes it.',
    resources: [{ kind: 'Pod', version: 'v1', name: '' }],
  },
  TrafficStack: {
    description: 'Components that are brought up in the order of their dependencies, and kept running.',
    resources: [
      { kind: 'Deployment', version: 'apps/v1', name: '' },
      { kind: 'StatefulSet', version: 'apps/v1', name: '' },
      { kind: 'DaemonSet', version: 'apps/v1', name: '' },
      { kind: 'ControllerRevision', version: 'apps/v1', name: '' },
      { kind: 'Service', version: 'v1', name: '' },
      { kind: 'ConfigMap', version: 'v1', name: '' },
      { kind: 'PodDisruptionBudget', version: 'policy/v1', name: '' },
      { kind: 'PrometheusRule', version: 'monitoring.coreos.com/v1', name: '' },
      { kind: 'TrafficWeight', version: 'traffic.example.com/v1alpha1', name: '' },
      { kind: 'Event', version: 'events.k8s.io/v1', name: '' },
    ],
  },
  TrafficWeight: {
    description: 'The part of this cluster in the traffic of several, as the weight of its DNS records.',
    resources: [
      { kind: 'DNSEndpoint', version: 'externaldns.k8s.io/v1alpha1', name: '' },
      { kind: 'Ingress', version: 'networking.k8s.io/v1', name: '' },
      { kind: 'HTTPRoute', version: 'gateway.networking.k8s.io/v1', name: '' },
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
