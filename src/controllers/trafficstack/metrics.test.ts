import { Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import type { ComponentStatus, TrafficStackStatus } from '../../api/trafficstack/trafficStack.ts';
import { createTrafficStackMetrics, type TrafficStackMetrics } from './metrics.ts';

let registry: Registry;
let metrics: TrafficStackMetrics;

beforeEach(() => {
  registry = new Registry();
  metrics = createTrafficStackMetrics(registry);
});

const SINCE = '2026-01-01T00:00:00Z';
const component = (name: string, over: Partial<ComponentStatus> = {}): ComponentStatus => {
  return { name, type: 'Workload', state: 'Ready', reason: '', message: '', since: SINCE, ...over };
};
const status = (ready: 'True' | 'False', reason: string, ...components: ComponentStatus[]): TrafficStackStatus => ({
  components,
  conditions: [
    { type: 'Ready', status: ready, reason, message: '', lastTransitionTime: SINCE },
    { type: 'Stalled', status: 'False', reason: 'NotStalled', message: '', lastTransitionTime: SINCE },
  ],
});
/** All series except the states that a component is not in. */
const series = async (): Promise<string[]> =>
  (await registry.metrics())
    .split('\n')
    .filter((line) => /^[a-z]/.test(line) && !/state="\w+"} 0$/.test(line))
    .map((line) => line.replace('traffic_operator_stack_', ''));

it('tell the state of the stack and of each component, its pods, and whom it waits for', async () => {
  const waitingOn = { component: 'db', what: '', observed: '', since: SINCE };
  metrics.record(
    'main',
    status(
      'False',
      'InProgress',
      component('db', { state: 'Progressing', replicas: 3, readyReplicas: 1 }),
      component('web', { state: 'Waiting', waitingOn }),
    ),
  );
  expect(await series()).toEqual([
    'ready{stack="main",reason="InProgress"} 0',
    'ready_since_timestamp_seconds{stack="main"} 1767225600',
    'stalled{stack="main",reason="NotStalled"} 0',
    'component_state{stack="main",component="db",state="Progressing"} 1',
    'component_state{stack="main",component="web",state="Waiting"} 1',
    'component_since_timestamp_seconds{stack="main",component="db"} 1767225600',
    'component_since_timestamp_seconds{stack="main",component="web"} 1767225600',
    'component_pods_desired{stack="main",component="db"} 3',
    'component_pods_available{stack="main",component="db"} 1',
    'component_waiting_on{stack="main",component="web",root="db"} 1',
  ]);
  const states = (await registry.metrics()).match(/component_state\{.*component="db".*/g);
  expect(states).toHaveLength(7);
});

it('show the last status: a component that is gone, and one that no longer waits, leave nothing', async () => {
  const waitingOn = { component: 'db', what: '', observed: '', since: SINCE };
  const web = component('web', { state: 'Waiting', waitingOn });
  metrics.record('main', status('False', 'InProgress', component('db', { replicas: 1, readyReplicas: 1 }), web));
  expect(await series()).toHaveLength(10);
  metrics.record('main', status('True', 'AllReady', component('web')));
  expect(await series()).toEqual([
    'ready{stack="main",reason="AllReady"} 1',
    'ready_since_timestamp_seconds{stack="main"} 1767225600',
    'stalled{stack="main",reason="NotStalled"} 0',
    'component_state{stack="main",component="web",state="Ready"} 1',
    'component_since_timestamp_seconds{stack="main",component="web"} 1767225600',
  ]);
});

it('are dropped with their stack, and series of others stay', async () => {
  metrics.record('main', status('True', 'AllReady', component('db', { replicas: 1, readyReplicas: 1 })));
  metrics.record('other', status('True', 'AllReady'));
  expect(await registry.metrics()).toContain('"main"');
  metrics.forget('main');
  const left = await registry.metrics();
  expect(left).not.toContain('"main"');
  expect(left).toContain('traffic_operator_stack_ready{stack="other",reason="AllReady"} 1');
});

it('are bounded while components come and go under new names, and leave the series of another stack', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 1_000; round += 1) {
    metrics.record('main', status('True', 'Ready', component(`web-${round}`)));
    for (const line of await series()) if (line.startsWith('component_state')) seen.add(line);
  }
  // The stack itself has one of the 600 places.
  expect(seen.size).toBe(599);
  metrics.record('other', status('True', 'Ready', component('db')));
  expect(await series()).toContain('component_state{stack="other",component="db",state="Ready"} 1');
});

it('are bounded while stacks come and go under new names', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 3_000; round += 1) {
    metrics.record(`main-${round}`, status('True', 'Ready'));
    for (const line of await series()) seen.add(line.replace(/^ready\{.*/, 'ready'));
    metrics.forget(`main-${round}`);
  }
  expect([...seen].filter((line) => line.startsWith('stalled'))).toHaveLength(1_500);
});

it('do not name the root that a component waits for once too many pairs of both had a place', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 1_000; round += 1) {
    const waitingOn = { component: `db-${round}`, what: '', observed: '', since: SINCE };
    metrics.record('main', status('True', 'Ready', component('web', { state: 'Waiting', waitingOn })));
    for (const line of await series()) if (line.startsWith('component_waiting_on')) seen.add(line);
  }
  expect(seen.size).toBe(598);
  expect(await series()).toContain('component_state{stack="main",component="web",state="Waiting"} 1');
});
