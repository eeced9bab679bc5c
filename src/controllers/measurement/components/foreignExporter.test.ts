import type { V1Container, V1DaemonSetStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { Proof } from '../../contract/builtIn.ts';
import { foreignExporter } from './foreignExporter.ts';

const OWN = 'app=own';
const NONE: ReadonlySet<never> = new Set();
const PROMETHEUS = new Set(['Prometheus'] as const);

const daemonSet = (containers: V1Container[], hostNetwork = true) => {
  const template = { spec: { hostNetwork, containers } };
  return { kind: 'DaemonSet', metadata: { name: 'x' }, spec: { selector: {}, template } };
};
const exporter = (over: Partial<V1Container> = {}): V1Container => ({ name: 'node-exporter', ...over });
/** The container of the helm chart prometheus-node-exporter. */
const CHART = exporter({
  args: ['--path.procfs=/host/proc', '--web.listen-address=[$(HOST_IP)]:9100'],
  ports: [{ name: 'http-metrics', containerPort: 9100, protocol: 'TCP' }],
});
/** The containers of kube-prometheus, and of OpenShift. */
const BEHIND_PROXY = [
  exporter({ args: ['--web.listen-address=127.0.0.1:9100'] }),
  {
    name: 'kube-rbac-proxy',
    args: ['--secure-listen-address=[$(IP)]:9100', '--upstream=http://127.0.0.1:9100/'],
    ports: [{ name: 'https', containerPort: 9100, hostPort: 9100 }],
  },
];

describe('an exporter of another owner', () => {
  it.each<[string, ReturnType<typeof daemonSet>, boolean]>([
    ['the exporter of the helm chart listens on the port', daemonSet([CHART]), true],
    ['a port need not be declared', daemonSet([exporter({ args: ['--web.listen-address=:9100'] })]), true],
    ['kube-rbac-proxy listens on the port', daemonSet(BEHIND_PROXY), true],
    ['one that only its own node reaches', daemonSet(BEHIND_PROXY.slice(0, 1)), false],
    ['another port', daemonSet([exporter({ ports: [{ containerPort: 19100 }] })]), false],
    ['the port as a host port', daemonSet([exporter({ ports: [{ containerPort: 80, hostPort: 9100 }] })]), true],
    ['UDP', daemonSet([exporter({ ports: [{ containerPort: 9100, protocol: 'UDP' }] })]), false],
    ['the network of its pod has not the devices of the node', daemonSet([CHART], false), false],
    ['ports as the API server leaves them out', daemonSet([exporter()]), false],
  ])('%s', (_, live, is) => {
    expect(foreignExporter(9100, true, OWN).matches(live, NONE)).toBe(is);
  });

  it.each<[string, V1Container[], boolean, boolean]>([
    ['speaks plain HTTP', [CHART], true, true],
    ['is behind kube-rbac-proxy', BEHIND_PROXY, true, false],
    ['has a port https', [exporter({ ports: [{ name: 'https', containerPort: 9100 }] })], true, false],
    ['has a file for TLS', [{ ...CHART, args: ['--web.config.file=/etc/web.yml'] }], true, false],
    ['is behind kube-rbac-proxy, for a Prometheus that is not the operator’s', BEHIND_PROXY, false, true],
  ])('is of use, or not: it %s', (_, containers, isScraped, isOfUse) => {
    const problem = foreignExporter(9100, isScraped, OWN).problem(daemonSet(containers), NONE);
    if (isOfUse) expect(problem).toBeUndefined();
    else expect(problem).toMatch(/^serves the port 9100 over HTTPS .* set another nodeExporter.port/);
  });

  const NEW = Date.UTC(2026, 0, 1);
  const counts = (scheduled: number, ready: number, updated = scheduled): V1DaemonSetStatus => ({
    ...{ observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: scheduled, numberMisscheduled: 0 },
    ...{ numberReady: ready, updatedNumberScheduled: updated },
  });
  const lack = (ready: number) =>
    `has Ready pods on ${ready} of 3 nodes that can be measured, and needs more than half`;
  it.each<[string, V1DaemonSetStatus | undefined, Proof]>([
    ['most', counts(2, 2), { is: 'Proven' }],
    ['none, since nobody may create its pods', counts(0, 0), { is: 'Unproven', lack: lack(0) }],
    ['one', counts(1, 1), { is: 'Few', lack: lack(1) }],
    ['one, and its other pods are not Ready', counts(3, 1), { is: 'Starting', lack: lack(1) }],
    [
      'none: its pods are of an older template, which may not have the network of the node',
      counts(3, 3, 0),
      { is: 'Starting', lack: lack(0) },
    ],
    [
      'unknown',
      { ...counts(3, 3), observedGeneration: 0 },
      { is: 'Starting', lack: 'has no status of its generation yet' },
    ],
    ['unknown: it is new', undefined, { is: 'Starting', lack: 'has no status of its generation yet' }],
  ])('counts by the nodes on which its pods are Ready, of three: %s', (_, status, proof) => {
    const live = {
      ...daemonSet([CHART]),
      metadata: { name: 'x', generation: 1, creationTimestamp: new Date(NEW) },
      ...(status && { status }),
    };
    expect(foreignExporter(9100, true, OWN).proof?.(live, { nodes: 3, now: NEW + 60_000 })).toEqual(proof);
  });

  it('has a minute for its first pods', () => {
    const metadata = { name: 'x', generation: 1, creationTimestamp: new Date(NEW) };
    const live = { ...daemonSet([CHART]), metadata, status: counts(0, 0) };
    const is = (after: number) => foreignExporter(9100, true, OWN).proof?.(live, { nodes: 3, now: NEW + after }).is;
    expect([is(59_000), is(60_000)]).toEqual(['Starting', 'Unproven']);
  });

  it('needs more than half of the nodes: with half of them, an own one measures as many', () => {
    const live = (ready: number) => ({ ...daemonSet([CHART]), status: { ...counts(ready, ready) } });
    const proofs = [5, 6].map(
      (ready) => foreignExporter(9100, true, OWN).proof?.(live(ready), { nodes: 10, now: 0 }).is,
    );
    expect(proofs).toEqual(['Few', 'Proven']);
  });

  it('need not be of a DaemonSet: then it answers with the traffic of the devices', () => {
    expect(foreignExporter(9101, true, OWN).listener).toEqual({
      ...{
        port: 9101,
        path: '/metrics?collect%5B%5D=netdev',
        contains: 'node_network_receive_bytes_total',
        ownPods: OWN,
      },
    });
  });

  it('is looked for by its port', () => {
    expect(foreignExporter(9101, true, OWN).sought).toBe('a DaemonSet with hostNetwork and the port 9101');
    expect(foreignExporter(9101, true, OWN).matches(daemonSet([CHART]), NONE)).toBe(false);
  });

  it.each<[string, string, boolean, boolean]>([
    ['has any port', 'quay.io/prometheus/node-exporter:v1.12.1', true, true],
    ['has an older image', 'registry:5000/node_exporter', true, true],
    ['is another program', 'quay.io/prometheus/prometheus:v3', true, false],
    ['is in a folder of that name', 'node-exporter/proxy:1', true, false],
    ['is a text of 900,000 characters', `${'node_exporter'.repeat(70_000)}/`, true, false],
    ['is longer than any image', `${'a'.repeat(1_024)}/node-exporter`, true, false],
    ['has not the devices of the node', 'quay.io/prometheus/node-exporter:v1.12.1', false, false],
  ])('with a Prometheus of another owner is found by its image, or not: it %s', (_, image, hostNetwork, is) => {
    const live = daemonSet([exporter({ image })], hostNetwork);
    expect(foreignExporter(9100, true, OWN).matches(live, PROMETHEUS)).toBe(is);
    expect(foreignExporter(9100, true, OWN).matches(live, NONE)).toBe(false);
  });

  it('with a Prometheus of another owner need not be scraped by the Prometheus of the operator', () => {
    expect(foreignExporter(9100, true, OWN).problem(daemonSet(BEHIND_PROXY), PROMETHEUS)).toBeUndefined();
  });
});
