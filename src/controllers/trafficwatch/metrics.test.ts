import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../api/trafficwatch/statusSchema.ts';
import { silentBudgets } from '../../runtime/manager/seriesBudget.ts';
import { countVerdicts, type NodeVerdict } from './decide/verdict/nodeVerdict.ts';
import { createTrafficWatchMetrics, MAX_NODES_SHOWN, type DecidedNodes } from './metrics.ts';
import type { BlockedDecision } from './decide/workload/blockedPods.ts';

const decided = (verdicts: readonly NodeVerdict[]): DecidedNodes => ({ verdicts, counts: countVerdicts(verdicts) });
const verdicts = (of: Record<string, Verdict>): [nodes: { name: string }[], decided: DecidedNodes] => [
  Object.keys(of).map((name) => ({ name })),
  decided(Object.values(of).map((verdict) => ({ verdict, reason: '', message: '', side: undefined }))),
];

function metrics() {
  const registry = new Registry();
  const series = async (name = 'node_unfit'): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(`traffic_operator_${name}{`));
  return { registry, series, shown: createTrafficWatchMetrics(registry) };
}

const line = (node: string, value: string, trafficwatch = 'web'): string =>
  `traffic_operator_node_unfit{namespace="shop",trafficwatch="${trafficwatch}",node="${node}"} ${value}`;

describe('traffic_operator_node_unfit', () => {
  it('exists only for unfit and unknown nodes', async () => {
    const { shown, series } = metrics();
    shown.record('shop/web', ...verdicts({ n1: 'Fit', n2: 'Unfit', n3: 'Unknown' }));
    expect(await series()).toEqual([line('n2', '1'), line('n3', 'Nan')]);
  });

  it('is removed when the node turns fit or is deleted', async () => {
    const { shown, series } = metrics();
    shown.record('shop/web', ...verdicts({ n1: 'Unfit', n2: 'Unfit', n3: 'Unknown' }));
    shown.record('shop/web', ...verdicts({ n1: 'Fit', n3: 'Unfit' }));
    expect(await series()).toEqual([line('n3', '1')]);
  });

  it('is removed with its TrafficWatch, and stays for others', async () => {
    const { shown, series } = metrics();
    shown.record('shop/web', ...verdicts({ n1: 'Unfit' }));
    shown.record('shop/api', ...verdicts({ n1: 'Unfit' }));
    shown.forget('shop/web');
    expect(await series()).toEqual([line('n1', '1', 'api')]);
  });
});

describe('nodes that cannot be measured', () => {
  it('are not counted as Unknown', async () => {
    const { shown, series } = metrics();
    const [
      nodes,
      {
        verdicts: [fit, missing],
      },
    ] = verdicts({ n1: 'Fit', n2: 'Unknown', win: 'Unknown', off: 'Unknown' });
    const reasons = ['NotMeasurable', 'NodeNotReady'].map((reason) => ({ ...missing!, reason }));
    shown.record('shop/web', nodes, decided([fit!, missing!, ...reasons]));
    expect((await series('trafficwatch_nodes')).map((text) => text.replace(/.*verdict=/, ''))).toEqual([
      '"Fit"} 1',
      '"Unfit"} 0',
      '"Unknown"} 1',
      '"NotMeasurable"} 2',
    ]);
  });

  it('have a series as long as they cannot be measured', async () => {
    const { shown, series } = metrics();
    shown.notMeasurable(new Map([['off', { reason: 'NodeNotReady', message: '' }]]));
    expect(await series('node_not_measurable')).toEqual([
      'traffic_operator_node_not_measurable{node="off",reason="NodeNotReady"} 1',
    ]);
    shown.notMeasurable(new Map());
    expect(await series('node_not_measurable')).toEqual([]);
  });
});

describe('the limits', () => {
  it('show the TrafficWatches beyond them, and the bytes of the labels of a Node, as last set', async () => {
    const { shown, registry } = metrics();
    const value = async (name: string): Promise<unknown> =>
      (await registry.getSingleMetric(`traffic_operator_${name}`)?.get())?.values.map((each) => each.value);
    for (const [beyond, bytes] of [
      [2, 1_234],
      [0, 36],
    ] as const) {
      shown.limits(beyond, bytes);
      expect([await value('trafficwatches_beyond_limits'), await value('node_label_bytes')]).toEqual([
        [beyond],
        [bytes],
      ]);
    }
  });
});

describe('traffic_operator_node_unfit in a large cluster', () => {
  const many = (count: number, verdict: Verdict): Record<string, Verdict> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${verdict.toLowerCase()}-${i}`, verdict]));

  it('exists only for the first unfit nodes', async () => {
    const { shown, series } = metrics();
    shown.record('shop/web', ...verdicts({ ...many(3, 'Unknown'), ...many(MAX_NODES_SHOWN + 1, 'Unfit') }));
    const found = await series();
    expect(found).toHaveLength(MAX_NODES_SHOWN);
    expect(found.filter((each) => !/node="unfit-\d+"\} 1$/.test(each))).toEqual([]);
    expect(found).not.toContain(line(`unfit-${MAX_NODES_SHOWN}`, '1'));
  });

  it('exists for unknown nodes up to the limit, and separately for another TrafficWatch', async () => {
    const { shown, series } = metrics();
    const nodes = verdicts({ ...many(MAX_NODES_SHOWN, 'Unknown'), ...many(2, 'Unfit') });
    shown.record('shop/web', ...nodes);
    shown.record('bank/api', ...nodes);
    const found = (await series()).filter((each) => each.includes('"web"'));
    expect(await series()).toHaveLength(2 * MAX_NODES_SHOWN);
    expect(found.filter((each) => each.endsWith(' 1'))).toEqual([line('unfit-0', '1'), line('unfit-1', '1')]);
    expect(found).toContain(line(`unknown-${MAX_NODES_SHOWN - 3}`, 'Nan'));
    expect(found).not.toContain(line(`unknown-${MAX_NODES_SHOWN - 2}`, 'Nan'));
  });
});

describe('traffic_operator_node_unfit with more nodes than the limit', () => {
  const unfit = Array.from({ length: MAX_NODES_SHOWN + 1 }, (_, i): [string, Verdict] => [`n${i}`, 'Unfit']);

  it('stays for nodes that have it, and is added for another node when one of them turns fit', async () => {
    const { shown, series } = metrics();
    const [first, ...others] = unfit;
    shown.record('shop/web', ...verdicts({ [first![0]]: 'Fit', ...Object.fromEntries(others) }));
    const before = await series();
    expect(before).toHaveLength(MAX_NODES_SHOWN);
    shown.record('shop/web', ...verdicts(Object.fromEntries(unfit)));
    expect((await series()).sort()).toEqual(before.sort());
    shown.record('shop/web', ...verdicts({ ...Object.fromEntries(unfit), n1: 'Fit' }));
    expect((await series()).sort()).toEqual(
      [...before.filter((each) => each !== line('n1', '1')), line('n0', '1')].sort(),
    );
  });

  it('changes when a node turns from unknown to unfit', async () => {
    const { shown, series } = metrics();
    shown.record('shop/web', ...verdicts({ n1: 'Unknown', n2: 'Unknown' }));
    shown.record('shop/web', ...verdicts({ n1: 'Unfit', n2: 'Unknown' }));
    expect(await series()).toEqual([line('n1', '1'), line('n2', 'Nan')]);
  });
});

describe('traffic_operator_trafficwatch_nodes', () => {
  const of = (verdict: Verdict, value: number, name = 'web'): string =>
    `traffic_operator_trafficwatch_nodes{namespace="shop",trafficwatch="${name}",verdict="${verdict}"} ${value}`;

  it('counts all nodes by verdict, including nodes beyond the limit', async () => {
    const { shown, series } = metrics();
    const many = Array.from({ length: MAX_NODES_SHOWN + 7 }, (_, i): [string, Verdict] => [`n${i}`, 'Unknown']);
    shown.record('shop/web', ...verdicts({ fit: 'Fit', ...Object.fromEntries(many) }));
    expect(await series('trafficwatch_nodes')).toEqual([
      of('Fit', 1),
      of('Unfit', 0),
      of('Unknown', MAX_NODES_SHOWN + 7),
    ]);
  });

  it('is absent if nothing was decided, and is removed with its TrafficWatch', async () => {
    const { shown, series } = metrics();
    for (const key of ['shop/web', 'shop/api', 'shop/stalled']) shown.record(key, ...verdicts({ n1: 'Unfit' }));
    shown.record('shop/stalled', [{ name: 'n1' }], decided([]));
    shown.forget('shop/api');
    expect(await series('trafficwatch_nodes')).toEqual([of('Fit', 0), of('Unfit', 1), of('Unknown', 0)]);
  });
});

describe('traffic_operator_trafficwatch_ready', () => {
  it('is 1 or 0, and is removed with its TrafficWatch', async () => {
    const { shown, series } = metrics();
    shown.ready('shop/web', true);
    shown.ready('shop/api', false);
    const of = (name: string, value: number): string =>
      `traffic_operator_trafficwatch_ready{namespace="shop",trafficwatch="${name}"} ${value}`;
    expect(await series('trafficwatch_ready')).toEqual([of('web', 1), of('api', 0)]);
    shown.forget('shop/web');
    expect(await series('trafficwatch_ready')).toEqual([of('api', 0)]);
  });

  it('is 0 once for all TrafficWatches of a namespace beyond a limit, while there are any', async () => {
    const { shown, series } = metrics();
    const beyond = ['traffic_operator_trafficwatch_ready{namespace="shop",trafficwatch="(TooManyTrafficWatches)"} 0'];
    shown.ready('shop/web', true);
    for (const key of ['shop/web', 'shop/api', 'shop/web']) shown.beyondLimit(key, 'TooManyTrafficWatches');
    expect(await series('trafficwatch_ready')).toEqual(beyond);
    shown.forget('shop/web');
    expect(await series('trafficwatch_ready')).toEqual(beyond);
    shown.record('shop/api', ...verdicts({ n1: 'Fit' }));
    expect(await series('trafficwatch_ready')).toEqual([]);
  });
});

describe('traffic_operator_trafficwatch_info', () => {
  it('has the mode of the spec, one series for each TrafficWatch, until the TrafficWatch is gone', async () => {
    const { shown, series } = metrics();
    const info = async (): Promise<string[]> => series('trafficwatch_info');
    shown.info('shop/web', { mode: 'Enforce', direction: 'Transmit', measure: 'Sum' });
    shown.info('shop/web', { mode: 'Observe', direction: 'Receive', measure: 'Fullest' });
    const line =
      'traffic_operator_trafficwatch_info{namespace="shop",trafficwatch="web",mode="Observe",direction="Receive",measure="Fullest"} 1';
    expect(await info()).toEqual([line]);
    shown.info('shop/api', { mode: 'Enforce', direction: 'Transmit', measure: 'Sum' });
    shown.forget('shop/api');
    expect(await info()).toEqual([line]);
  });
});

describe('traffic_operator_trafficwatch_held_nodes', () => {
  it('is there while the spec limits the unfit nodes', async () => {
    const { shown, series } = metrics();
    const [nodes, unlimited] = verdicts({ n1: 'Unfit' });
    shown.record('shop/web', nodes, { ...unlimited, breaker: { held: 2 } });
    const line = 'traffic_operator_trafficwatch_held_nodes{namespace="shop",trafficwatch="web"} 2';
    expect(await series('trafficwatch_held_nodes')).toEqual([line]);
    // A pass that fails says nothing about the breaker: an alert on it does not resolve.
    shown.record('shop/web', nodes, { ...unlimited, breaker: 'Unchanged' });
    expect(await series('trafficwatch_held_nodes')).toEqual([line]);
    shown.record('shop/web', nodes, unlimited);
    expect(await series('trafficwatch_held_nodes')).toEqual([]);
  });
});

describe('traffic_operator_trafficwatch_blocked_pods', () => {
  it('is a number only while pods are read, and is removed with its TrafficWatch', async () => {
    const { shown, series } = metrics();
    const [nodes, decided] = verdicts({ n1: 'Unfit' });
    const record = (blocked: BlockedDecision): void => shown.record('shop/web', nodes, { ...decided, blocked });
    const of = (count: number): string[] => [
      `traffic_operator_trafficwatch_blocked_pods{namespace="shop",trafficwatch="web"} ${count}`,
    ];
    record({ kind: 'NotRead' });
    expect(await series('trafficwatch_blocked_pods')).toEqual([]);
    record({ kind: 'Known', pods: undefined, isLasting: false });
    expect(await series('trafficwatch_blocked_pods')).toEqual(of(0));
    record({ kind: 'Known', pods: { count: 5, names: ['a', 'b', 'c'] }, isLasting: true });
    record({ kind: 'NotRead' });
    expect(await series('trafficwatch_blocked_pods')).toEqual(of(5));
    record({ kind: 'Unreadable', message: 'forbidden' });
    expect(await series('trafficwatch_blocked_pods')).toEqual([]);
    record({ kind: 'Known', pods: undefined, isLasting: false });
    shown.forget('shop/web');
    expect(await series('trafficwatch_blocked_pods')).toEqual([]);
  });
});

describe('traffic_operator_trafficwatch_capacity_source_nodes', () => {
  const shownAs = (source: string, count: number, trafficwatch = 'web'): string =>
    `traffic_operator_trafficwatch_capacity_source_nodes{namespace="shop",trafficwatch="${trafficwatch}",source="${source}"} ${count}`;

  it('counts the nodes of each source, and goes with the last node or the TrafficWatch', async () => {
    const { shown, series } = metrics();
    const shownSeries = () => series('trafficwatch_capacity_source_nodes');
    shown.capacitySources(
      'shop/web',
      new Map([
        ['Spec', 2],
        ['Series', 1],
      ]),
    );
    shown.capacitySources('shop/api', new Map([['Series', 3]]));
    expect(await shownSeries()).toEqual([shownAs('Spec', 2), shownAs('Series', 1), shownAs('Series', 3, 'api')]);
    shown.capacitySources('shop/web', new Map([['Series', 3]]));
    expect(await shownSeries()).toEqual([shownAs('Series', 3), shownAs('Series', 3, 'api')]);
    shown.forget('shop/web');
    expect(await shownSeries()).toEqual([shownAs('Series', 3, 'api')]);
    shown.capacitySources('shop/api', new Map());
    expect(await shownSeries()).toEqual([]);
  });
});

describe('the series of TrafficWatches that one namespace creates and deletes in a loop', () => {
  const NAMES = 1_000;
  const spec = { mode: 'Observe', direction: 'Transmit', measure: 'Sum' } as const;

  /** Records each name once and deletes it. @returns the different series that existed meanwhile, by metric */
  async function churn(of: Record<string, Verdict>): Promise<{ count: (metric: string) => number } & Shown> {
    const { registry, shown, series } = metrics();
    const seen = new Set<string>();
    for (let name = 0; name < NAMES; name += 1) {
      const key = `shop/web-${name}`;
      shown.record(key, ...verdicts(of));
      shown.info(key, spec);
      shown.ready(key, true);
      shown.capacitySources(key, new Map([['Series', 1]]));
      for (const each of (await registry.metrics()).split('\n')) if (each.includes('"shop"')) seen.add(each);
      shown.forget(key);
    }
    const count = (metric: string): number => [...seen].filter((each) => each.includes(`_${metric}{`)).length;
    return { count, shown, series };
  }
  type Shown = Pick<ReturnType<typeof metrics>, 'shown' | 'series'>;
  const nodes = (verdict: Verdict) => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}`, verdict]));

  it('are of 300 names and 2,000 nodes within three hours, and leave the series of another namespace', async () => {
    const { count, shown, series } = await churn(nodes('Unfit'));
    const metricsOfOne = ['info', 'ready', 'capacity_source_nodes'].map((name) => count(`trafficwatch_${name}`));
    expect([...metricsOfOne, count('trafficwatch_nodes'), count('node_unfit')]).toEqual([300, 300, 300, 900, 2_000]);
    shown.record('bank/web', ...verdicts(nodes('Unfit')));
    expect(await series()).toHaveLength(20);
  });

  it('are of 500 unknown nodes besides', async () => {
    const { count } = await churn(nodes('Unknown'));
    expect(count('node_unfit')).toBe(500);
  });
});

it('shows each node that turns unfit after a failed pass over a large cluster with many namespaces', async () => {
  const { shown, series } = metrics();
  const keys = Array.from({ length: 60 }, (_, i) => `team-${i}/web`);
  const cluster = (unfitFrom: number, unfitTo: number, other: Verdict) =>
    verdicts(
      Object.fromEntries(
        Array.from({ length: 1_000 }, (_, i): [string, Verdict] => [
          `n${i}`,
          i >= unfitFrom && i < unfitTo ? 'Unfit' : other,
        ]),
      ),
    );
  for (const key of keys) shown.record(key, ...cluster(0, 0, 'Unknown'));
  expect(await series()).toHaveLength(2_000);
  for (const key of keys) shown.record(key, ...cluster(600, 640, 'Fit'));
  expect((await series()).filter((each) => each.endsWith(' 1'))).toHaveLength(60 * 40);
});

it.each([
  { perNamespace: 200, inCluster: 2_000 },
  { perNamespace: 1_000, inCluster: 1_000 },
])('has series for all TrafficWatches that the flags allow: $perNamespace, $inCluster', async (most) => {
  const registry = new Registry();
  const shown = createTrafficWatchMetrics(registry, silentBudgets, most);
  for (let name = 0; name < most.inCluster; name += 1)
    shown.ready(`team-${Math.floor(name / most.perNamespace)}/web-${name}`, true);
  expect((await registry.metrics()).match(/^traffic_operator_trafficwatch_ready\{/gm)).toHaveLength(most.inCluster);
});
