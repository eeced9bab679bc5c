import { Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import type { RampStatus, TrafficWeightStatus } from '../../api/trafficweight/trafficWeight.ts';
import type { ReportedHost } from './decide/hosts.ts';
import { createTrafficWeightMetrics, type TrafficWeightMetrics } from './metrics.ts';

const HOST: ReportedHost = { host: 'a', ingress: 'shop/a', reason: 'ClusterWeight', currentWeight: undefined };
const RAMP: RampStatus = { from: 0, target: 50, weight: 10, phase: 'Progressing', failures: 0, message: '' };
let registry: Registry;
let metrics: TrafficWeightMetrics;

beforeEach(() => {
  registry = new Registry();
  metrics = createTrafficWeightMetrics(registry);
});

const status = (
  ready: 'True' | 'False',
  reason: string,
  weights: Partial<TrafficWeightStatus>,
): TrafficWeightStatus => ({
  ...weights,
  conditions: [{ type: 'Ready', status: ready, reason, message: '', lastTransitionTime: '' }],
});
/** Series with a value that is not 0, and series of readiness. */
const series = async (): Promise<string[]> =>
  (await registry.metrics())
    .split('\n')
    .filter((line) => /^[a-z]/.test(line) && (!line.endsWith(' 0') || line.includes('ready')));

it('tell the reason, and keep the hosts that were decided last', async () => {
  metrics.record('main', status('True', 'InForce', { desiredWeight: 5, currentWeight: 5 }), { hosts: [HOST, HOST] });
  metrics.record('main', status('False', 'InvalidSpec', { currentWeight: 5 }));
  expect(await series()).toEqual([
    'cluster_traffic_controller_ingress_weight_current{trafficweight="main"} 5',
    'traffic_operator_trafficweight_hosts{trafficweight="main",reason="ClusterWeight"} 2',
    'traffic_operator_trafficweight_ready{trafficweight="main",reason="InvalidSpec"} 0',
  ]);
});

it('are dropped with their TrafficWeight', async () => {
  metrics.record('main', status('True', 'InForce', { desiredWeight: 5, currentWeight: 5 }), { hosts: [HOST] });
  metrics.record('other', status('True', 'InForce', {}), { hosts: [] });
  metrics.forget('main');
  expect(await series()).toEqual(['traffic_operator_trafficweight_ready{trafficweight="other",reason="InForce"} 1']);
});

it('tell the weight of each host, and keep what external-dns has read until it has read the next one', async () => {
  const ready = status('True', 'InForce', {});
  const host = (over: Partial<ReportedHost>): ReportedHost => ({ ...HOST, ...over });
  const ofHosts = async (): Promise<string[]> => (await series()).filter((line) => line.includes('host_weight'));
  const recorded = (...hosts: ReportedHost[]): void => metrics.record('main', ready, { hosts });
  recorded(
    host({ weight: 5, currentWeight: 5 }),
    host({ host: 'b', weight: 1, currentWeight: 1 }),
    host({ host: 'c', reason: 'Conflict' }),
  );
  recorded(host({ weight: 7 }), host({ host: 'c', reason: 'Conflict' }));
  expect(await ofHosts()).toEqual([
    'traffic_operator_trafficweight_host_weight_desired{trafficweight="main",namespace="shop",ingress="a",host="a",reason="ClusterWeight"} 7',
    'traffic_operator_trafficweight_host_weight_current{trafficweight="main",namespace="shop",ingress="a",host="a"} 5',
  ]);
  metrics.forget('main');
  expect(await ofHosts()).toEqual([]);
});

it.each<[string, Partial<TrafficWeightStatus>, string]>([
  ['no ramp', { desiredWeight: 50, appliedWeight: 50 }, 'phase="Reached"} 50'],
  ['nothing applied yet', { desiredWeight: 50 }, 'phase="Reached"} 50'],
  ['a step', { desiredWeight: 50, appliedWeight: 10, ramp: RAMP }, 'phase="Progressing"} 10'],
  [
    'a gate without data',
    { appliedWeight: 10, ramp: { ...RAMP, gate: { result: 'NoData', message: '' } } },
    'phase="Waiting"} 10',
  ],
  ['a rollback', { appliedWeight: 5, ramp: { ...RAMP, phase: 'RolledBack' } }, 'phase="RolledBack"} 5'],
])('tell the weight of the records and where the ramp stands: %s', async (_, over, end) => {
  const steps = async (): Promise<string[]> => (await series()).filter((line) => line.includes('step_weight'));
  metrics.record('main', status('True', 'InForce', { appliedWeight: 1, ramp: { ...RAMP, phase: 'Held' } }));
  metrics.record('main', status('True', 'InForce', over));
  expect(await steps()).toEqual([`traffic_operator_trafficweight_step_weight{trafficweight="main",${end}`]);
  metrics.forget('main');
  expect(await steps()).toEqual([]);
});

it('are bounded while a namespace changes its hosts in a loop, and leave the series of another namespace', async () => {
  const seen = new Set<string>();
  const host = (name: string, ingress = 'shop/a') => ({ ...HOST, ingress, host: name, weight: 5, currentWeight: 5 });
  const ready = status('True', 'InForce', {});
  for (let round = 0; round < 100; round += 1) {
    const hosts = Array.from({ length: 100 }, (_, i) => host(`h${round}-${i}`));
    metrics.record('main', ready, { hosts });
    for (const line of await series()) if (line.includes('host_weight')) seen.add(line);
  }
  expect(seen.size).toBe(5_000);
  metrics.record('main', ready, { hosts: [host('a', 'bank/a')] });
  expect((await series()).filter((line) => line.includes('namespace="bank"'))).toHaveLength(2);
  // The counts have all hosts.
  metrics.record('main', ready, { hosts: [host('new-1'), host('new-2')] });
  expect(await series()).toContain(
    'traffic_operator_trafficweight_hosts{trafficweight="main",reason="ClusterWeight"} 2',
  );
  expect((await series()).filter((line) => line.includes('namespace="shop"'))).toEqual([]);
});

it('are bounded while TrafficWeights come and go under new names', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 1_000; round += 1) {
    metrics.record(`main-${round}`, status('True', 'InForce', { currentWeight: 5 }), { hosts: [] });
    for (const line of await series()) if (line.includes('ingress_weight_current')) seen.add(line);
    metrics.forget(`main-${round}`);
  }
  expect(seen.size).toBe(100);
});

it('tell how many hosts of each namespace wait for a confirmation, while they wait', async () => {
  const waiting = async (): Promise<string[]> => (await series()).filter((line) => line.includes('unconfirmed_hosts'));
  const record = (...namespaces: string[]): void => {
    const each = namespaces.map((name) => [name, { hosts: 2, confirm: '' }] as const);
    metrics.record('main', status('True', 'InForce', {}), { hosts: [], unconfirmed: { namespaces: new Map(each) } });
  };
  const of = (namespace: string): string =>
    `traffic_operator_trafficweight_unconfirmed_hosts{trafficweight="main",namespace="${namespace}"} 2`;
  record('shop', 'tenant');
  expect(await waiting()).toEqual([of('shop'), of('tenant')]);
  record('tenant');
  // While nothing can be decided, they still wait.
  metrics.record('main', status('False', 'NotRead', {}));
  expect(await waiting()).toEqual([of('tenant')]);
  metrics.record('main', status('True', 'InForce', {}), { hosts: [] });
  expect(await waiting()).toEqual([]);
  record('shop');
  metrics.forget('main');
  expect(await waiting()).toEqual([]);
});
