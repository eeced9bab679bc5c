import { expect, it } from 'vitest';
import type { Placement } from '../../../nodes/nodeAffinity.ts';
import type { SeriesLabels } from '../../../prometheus/askValues.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { Proof } from '../../contract/builtIn.ts';
import { ServerProbes, type ProbedNode } from './probes.ts';

const PROBE = { metric: 'x', series: 'series of x' };
const ALL = 'count by (node, instance) (x)';
/** The labels of one of three nodes that can be measured; a fourth one is off, and a fifth one runs Windows. */
const of = (node: string): SeriesLabels => ({ node, instance: '10.0.0.1:9100', 'dotted.name': 'y' });
const ONE = 'count(x{node="n1",instance="10.0.0.1:9100"})';
const nodeOf = (name: string, over: Partial<ProbedNode> = {}): ProbedNode => ({
  name,
  addresses: [`${name}.local`],
  labels: {},
  ...over,
});
const NODES = [
  nodeOf('n1', { hostname: 'edge' }),
  ...['n2', 'n3'].map((name) => nodeOf(name)),
  nodeOf('off', { notReadySince: 0 }),
  nodeOf('windows', { neverMeasured: { reason: 'NotMeasurable', message: '' } }),
];
const MOST = [of('n1'), of('n2')];

const lackOf = (proof: Proof): string | undefined => (proof.is === 'Proven' ? undefined : proof.lack);

function scene(answer: (query: string) => Promise<readonly SeriesLabels[]>) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const probes = new ServerProbes({
    clock,
    nodes: () => NODES,
    ask(url, query) {
      asked.push(`${url} ${query}`);
      return answer(query);
    },
  });
  const proof = (url = 'http://p', placement?: Placement) =>
    probes.proof({ ...PROBE, ...(placement && { placement }) }, url);
  const problem = async (url?: string) => lackOf(await proof(url));
  return { clock, asked, proof, problem };
}

it.each<[string, SeriesLabels[], number | undefined]>([
  ['most nodes', MOST, undefined],
  [
    'all nodes by their addresses',
    ['n1.local:9100', 'N2.local', 'n3.local:1'].map((instance) => ({ instance })),
    undefined,
  ],
  ['one node', [of('n1')], 1],
  ['one node, many times', ['a', 'b', 'c'].map((instance) => ({ node: 'n1', instance })), 1],
  ['one node, and nodes that this cluster has not', [of('n1'), of('x1'), of('x2'), of('x3')], 1],
  ['nodes that cannot be measured', [of('n1'), of('off'), of('windows')], 1],
  ['no node', [{ job: 'x' }], 0],
])('a server counts if it has series of most nodes that can be measured: of %s', async (_, series, count) => {
  const why = await scene(() => Promise.resolve(series)).problem();
  const lack = 'nodes that can be measured, and needs more than half: x at http://p';
  expect(why).toBe(count === undefined ? undefined : `has series of x of ${count} of 3 ${lack}`);
});

it('is asked once in 5 s: for all series once in a minute, and meanwhile for one of them', async () => {
  const { clock, asked, problem } = scene(() => Promise.resolve(MOST));
  expect([await problem(), await problem()]).toEqual([undefined, undefined]);
  await problem('http://other');
  await clock.advance(5_000);
  expect(await problem()).toBeUndefined();
  await clock.advance(55_000);
  expect(await problem()).toBeUndefined();
  expect(asked).toEqual([
    `http://p ${ALL}`,
    `http://other ${ALL}`,
    ...[ONE, ONE, ALL].map((each) => `http://p ${each}`),
  ]);
});

it('when that series has ended, all are asked for at once', async () => {
  const series = [...MOST];
  const { clock, asked, problem } = scene((query) => Promise.resolve(query === ALL ? series : []));
  await problem();
  await clock.advance(5_000);
  expect(await problem()).toBeUndefined();
  series.splice(0);
  await clock.advance(5_000);
  expect(await problem()).toBe('has no series of x: x gives nothing at http://p');
  await clock.advance(5_000);
  await problem();
  expect(asked.map((each) => each.slice('http://p '.length))).toEqual([ALL, ONE, ALL, ONE, ALL, ALL]);
});

it('one that is too busy for a look at all series is of use for ten minutes, while it answers for one of them', async () => {
  let answersAll = true;
  const { clock, problem } = scene((query) =>
    query !== ALL || answersAll ? Promise.resolve(MOST) : Promise.reject(new Error('too busy')),
  );
  await problem();
  answersAll = false;
  await clock.advance(599_000);
  expect(await problem()).toBeUndefined();
  await clock.advance(5_000);
  expect(await problem()).toBe('gives no answer at http://p: too busy');
});

it('one of few nodes measures most of those that are left to node-exporter', async () => {
  const { proof, clock } = scene(() => Promise.resolve([of('n1')]));
  expect(await proof()).toMatchObject({ is: 'Few' });
  await clock.advance(5_000);
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['edge'] }];
  const nodeSelectorTerms = [{ matchExpressions }];
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  expect(await proof('http://placed', { affinity })).toEqual({ is: 'Proven' });
});

it('one without is not of use', async () => {
  expect(await scene(() => Promise.resolve([])).problem()).toBe('has no series of x: x gives nothing at http://p');
});

it('nor is one that does not answer', async () => {
  const { problem } = scene(() => Promise.reject(new Error('Prometheus answers HTTP 503')));
  expect(await problem()).toBe('gives no answer at http://p: Prometheus answers HTTP 503');
});

it('nor is one that takes too long', async () => {
  const { clock, problem } = scene(() => new Promise(() => undefined));
  const waiting = problem();
  await clock.advance(3_000);
  expect(await waiting).toBe('gives no answer at http://p: no complete answer within 3 s');
});

it('nobody listens there: it is asked over HTTP', async () => {
  const probes = new ServerProbes({ clock: new FakeClock(), nodes: () => NODES });
  expect(lackOf(await probes.proof(PROBE, 'http://127.0.0.1:1'))).toBe(
    'gives no answer at http://127.0.0.1:1: cannot connect to http://127.0.0.1:1: ECONNREFUSED',
  );
});

it('series of few servers are remembered', async () => {
  const { clock, asked, problem } = scene(() => Promise.resolve(MOST));
  for (let n = 0; n <= 50; n += 1) await problem(`http://p${n}`);
  await clock.advance(5_000);
  await problem('http://p0');
  await problem('http://p50');
  expect(asked.slice(-2)).toEqual([`http://p0 ${ALL}`, `http://p50 ${ONE}`]);
});
