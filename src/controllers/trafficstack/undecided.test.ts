import { beforeEach, describe, expect, it } from 'vitest';
import { StackReason } from '../../api/trafficstack/reasons.ts';
import type { ComponentSpec, ComponentStatus } from '../../api/trafficstack/trafficStack.ts';
import { findCondition } from '../../runtime/controller/conditions.ts';
import { undecidedStatus } from './decide/status.ts';
import { SimulatedCluster } from './testing/simulatedCluster.ts';
import { component } from './testing/stacks.ts';

const db = (version: number): ComponentSpec => ({ ...component('db'), ...withImage('db', version), deadline: '60s' });
const web = (version: number): ComponentSpec => ({
  ...component('web'),
  ...withImage('web', version),
  deadline: '60s',
});
const ALL = [db(1), web(1)];
/** They depend on one another. */
const CYCLE = [
  { ...db(1), dependsOn: ['web'] },
  { ...web(1), dependsOn: ['db'] },
];

function withImage(name: string, version: number): Pick<ComponentSpec, 'workload'> {
  const podTemplate = { spec: { containers: [{ name, image: `${name}:${version}` }] } };
  return { workload: { kind: 'Deployment', namespace: 'shop', replicas: 2, podTemplate } };
}

let cluster: SimulatedCluster;

beforeEach(async () => {
  cluster = new SimulatedCluster(ALL);
  await cluster.reconcile();
  cluster.turn('db', true);
  cluster.turn('web', true);
  await cluster.reconcile();
  cluster.clock.jump(3_600_000);
});

const states = () => cluster.status.components?.map(({ name, state, reason }) => `${name} ${state} ${reason}`);
const of = (name: string): ComponentStatus => cluster.status.components!.find((each) => each.name === name)!;

async function change(components: readonly ComponentSpec[]): Promise<void> {
  cluster.change(components);
  await cluster.reconcile();
}

describe('while nothing is decided', () => {
  it('each component is Unknown since then, with what was seen last, and none counts as ready', async () => {
    const before = of('db');
    await change(CYCLE);
    expect(states()).toEqual(['db Unknown NotDecided', 'web Unknown NotDecided']);
    expect(of('db').message).toBe(`nothing is decided (InvalidDependencies); it was Ready: ${before.message}`);
    expect(Date.parse(of('db').since)).toBe(cluster.clock.now());
    expect(of('db')).not.toHaveProperty('readyReplicas');
    expect(cluster.status.summary).toBe('0/2');
  });

  it('another problem, and a restart, change neither its time nor what was seen last', async () => {
    await change(CYCLE);
    const { since, lastDecided, message } = of('db');
    cluster.clock.jump(60_000);
    await change([db(1), { ...web(1), dependsOn: ['gone'] }]);
    expect(of('db')).toMatchObject({ since, lastDecided, message });
    expect(findCondition(cluster.status.conditions, 'Stalled')?.message).toMatch(/gone/);
  });

  it('a component that is being removed does not count', () => {
    const removing: ComponentStatus = { ...of('web'), state: 'Removing' };
    const stack = { ...cluster.stack!, status: { ...cluster.status, components: [of('db'), removing] } };
    const status = undecidedStatus(stack, { reason: StackReason.InvalidSpec, message: '' }, 0);
    expect(status.summary).toBe('0/1');
    expect(undecidedStatus({ ...stack, status }, { reason: StackReason.NotRead, message: '' }, 0).summary).toBe('0/1');
  });

  it('a new stack has the components of its spec, each once, also when another problem follows', async () => {
    cluster = new SimulatedCluster([...CYCLE, db(2)]);
    await cluster.reconcile();
    expect(states()).toEqual(['db Unknown NotDecided', 'web Unknown NotDecided']);
    expect(cluster.status.summary).toBe('0/2');
    const { since, message } = of('db');
    expect(message).toMatch(/^nothing is decided \(Invalid\w+\)$/);
    cluster.clock.jump(60_000);
    await change([db(1), { ...web(1), dependsOn: ['gone'] }]);
    expect(of('db')).toMatchObject({ since, message: 'nothing is decided (InvalidDependencies)' });
    expect(of('db')).not.toHaveProperty('lastDecided');
    await change(ALL);
    expect(states()).toEqual(['db Progressing Applying', 'web Progressing Applying']);
  });
});

describe('when something is decided again', () => {
  it('what was ready is Ready at once, as before, and nothing is written', async () => {
    const before = cluster.status.components;
    await change(CYCLE);
    cluster.clock.jump(3_600_000);
    const written: unknown[] = [];
    cluster.onApply = (object) => written.push(object);
    await change(ALL);
    expect(cluster.status.components).toEqual(before);
    expect(written).toEqual([]);
  });

  it('what was ready and broke meanwhile is Degraded, without a deadline', async () => {
    await change(CYCLE);
    cluster.turn('web', false);
    await change(ALL);
    expect(states()).toEqual(['db Ready AllAvailable', 'web Degraded PodsUnavailable']);
    cluster.clock.jump(120_000);
    await cluster.reconcile();
    expect(of('web')).toMatchObject({ state: 'Degraded', readyRevision: of('web').revision });
  });

  it('a deadline has run on', async () => {
    await change([db(1), web(2)]);
    const { since } = of('web');
    cluster.clock.jump(30_000);
    await change(CYCLE);
    cluster.clock.jump(10_000);
    await change([db(1), web(2)]);
    expect(of('web')).toMatchObject({ state: 'Progressing', since });
    cluster.clock.jump(20_000);
    await cluster.reconcile();
    expect(of('web').state).toBe('Failed');
  });

  it('what has failed, or was rolled back, stays so', async () => {
    await change([db(1), web(2)]);
    cluster.clock.jump(60_000);
    await cluster.reconcile();
    await cluster.reconcile();
    cluster.turn('web', true);
    await cluster.reconcile();
    const before = of('web');
    expect(before).toMatchObject({ state: 'Failed', reason: 'RolledBack' });
    await change(CYCLE);
    expect(of('web')).toMatchObject({ state: 'Unknown', rolledBackFrom: before.rolledBackFrom });
    await change([db(1), web(2)]);
    expect(of('web')).toEqual(before);
    expect(cluster.imageOf('web')).toBe('web:1');
  });
});
