import { describe, expect, it } from 'vitest';
import type { ComponentStatus, TrafficStack, UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { DAEMONSETS, SERVICES } from '../../../runtime/client/resources.ts';
import type { LeftObject, ObservedComponent, ObservedExternal } from '../model/observation.ts';
import { at, NOW, REVISION, stackOf } from '../testing/stacks.ts';
import { planComponent } from './component.ts';
import { planStack } from './plan.ts';

const SOUGHT = 'a DaemonSet with hostNetwork and the port 9100';
const THEIRS = { kind: 'DaemonSet', namespace: 'monitoring', name: 'node-exporter' };

/** An exporter of another owner with so many available pods of three. */
const uses = (
  available: number,
  external: Partial<ObservedExternal> = {},
  observedGeneration = 1,
  desired = 3,
): ObservedComponent => {
  const metadata = { namespace: THEIRS.namespace, name: THEIRS.name };
  const status = {
    observedGeneration,
    desiredNumberScheduled: desired,
    updatedNumberScheduled: desired,
    numberAvailable: available,
  };
  const template = { spec: { containers: [{ name: 'x', image: 'theirs:7' }] } };
  const live = { kind: 'DaemonSet', metadata: { ...metadata, generation: 1 }, ...{ spec: { template }, status } };
  const object = { resource: DAEMONSETS, object: { kind: 'DaemonSet', metadata }, hash: '', isCurrent: false, live };
  return { ...missing(), objects: [object], external: { sought: SOUGHT, ...external } };
};
const missing = (): ObservedComponent => ({
  spec: { name: 'exporter', type: 'NodeExporter', mode: 'External', deadline: '60s' },
  ...{ objects: [], pods: [], variables: {}, revision: REVISION, external: { sought: SOUGHT } },
});
const before = (over: Partial<ComponentStatus> = {}): TrafficStack => {
  const status = { name: 'exporter', type: 'NodeExporter', mode: 'External', reason: '', message: '' } as const;
  return stackOf([], {
    components: [{ ...status, state: 'Progressing', since: at(-70), revision: REVISION, ...over }],
  });
};
const wasReady = before({ state: 'Ready', readyRevision: REVISION, replicas: 3 });
const URL = 'http://prom.monitoring.svc:9090';
const PROM = { kind: 'Service', namespace: 'monitoring', name: 'prom', url: URL };
/** A Prometheus of another owner. */
const asks = (external: Partial<ObservedExternal> = {}): ObservedComponent => {
  const metadata = { namespace: 'monitoring', name: 'prom' };
  const live = { kind: 'Service', metadata };
  const object = { resource: SERVICES, object: { kind: 'Service', metadata }, hash: '', isCurrent: false, live };
  const server = { url: URL, series: 'series of x' };
  return { ...missing(), objects: [object], external: { sought: 'a Prometheus', server, ...external } };
};
const OF_URL = { kind: 'URL', namespace: '', name: 'prom', url: URL, fromSpec: true } as const;
const atUrl = (problem?: string): ObservedComponent => ({
  ...missing(),
  external: { sought: 'a Prometheus', problem, named: OF_URL, server: { url: URL, series: 'series of x' } },
});
/** Exporters of another owner on so many of three nodes. */
const listens = (answering: string[], problem?: string): ObservedComponent => ({
  ...missing(),
  external: { sought: SOUGHT, problem, listening: { port: 9100, queried: 3, answering } },
});
const onNode = (name: string) => ({ kind: 'Node', namespace: '', name });
const usedNode = (name: string) => before({ state: 'Ready', readyRevision: REVISION, uses: onNode(name) });
const DOWN = { problem: `gives no answer at ${URL}: ECONNREFUSED` };
/** An external object that has time to start. */
const awaits = (): ObservedComponent => ({ ...missing(), external: { sought: SOUGHT, awaited: 'it is awaited' } });
/** A named object that does not exist. */
const lacks = (named: UsedObject): ObservedComponent => {
  const { resource, object } = uses(0).objects[0]!;
  const unread = { resource, object, hash: '', isCurrent: false, live: undefined };
  return { ...missing(), objects: [unread], external: { sought: SOUGHT, named } };
};
const FROM_SPEC = { ...THEIRS, fromSpec: true } as const;
const usedTheirs = before({ state: 'Ready', readyRevision: REVISION, uses: THEIRS });
const SECURED = { problem: 'serves the port 9100 over HTTPS' };

describe('a built-in component that another owner may have made', () => {
  it.each<[string, ObservedComponent, TrafficStack, Partial<ComponentStatus>]>([
    [
      'is ready when that is',
      uses(3),
      stackOf([]),
      {
        ...{ state: 'Ready', reason: 'AllAvailable', uses: THEIRS, replicas: 3, readyReplicas: 3, version: 'theirs:7' },
        message: 'uses DaemonSet monitoring/node-exporter: 3 of 3 pods are available',
      },
    ],
    [
      'begins with it',
      uses(2),
      stackOf([]),
      {
        ...{ state: 'Progressing', reason: 'RollingOut', uses: THEIRS },
        message: 'uses DaemonSet monitoring/node-exporter: 2 of 3 pods are available',
      },
    ],
    [
      'is ready when it answers on nodes',
      listens(['n1', 'n3']),
      stackOf([]),
      {
        ...{ state: 'Ready', reason: 'Answering', uses: onNode('n1') },
        message: 'uses what listens on the port 9100 of the nodes: 2 of 3 nodes that were asked answer',
      },
    ],
    ['names the same node while that answers', listens(['n1', 'n3']), usedNode('n3'), { uses: onNode('n3') }],
    ['names another node when that does not', listens(['n1', 'n3']), usedNode('n2'), { uses: onNode('n1') }],
    [
      'is degraded when no node answers, and still uses it',
      listens([], 'no node answers'),
      usedNode('n3'),
      { state: 'Degraded', reason: 'ExternalUnusable', message: 'no node answers', uses: onNode('n3') },
    ],
    [
      'is not ready with a DaemonSet that has no pods',
      uses(0, {}, 1, 0),
      stackOf([]),
      {
        ...{ state: 'Progressing', reason: 'PodsUnavailable' },
        message: 'uses DaemonSet monitoring/node-exporter: 0 of 0 pods are available: no node is selected',
      },
    ],
    [
      'is degraded when its pods are gone',
      uses(0, {}, 1, 0),
      wasReady,
      { state: 'Degraded', reason: 'PodsUnavailable' },
    ],
    [
      'misses what it used, and waits for nothing else',
      lacks(THEIRS),
      usedTheirs,
      {
        ...{ state: 'Degraded', reason: 'ExternalMissing', uses: THEIRS, readyRevision: REVISION },
        message:
          'DaemonSet monitoring/node-exporter does not exist: the operator waits for it, and deploys nothing instead; to use another object, ' +
          'set the mode External and external; to have its own deployed, set the mode Managed',
      },
    ],
    [
      'misses what its spec names',
      lacks(FROM_SPEC),
      usedTheirs,
      {
        ...{ state: 'Degraded', reason: 'ExternalMissing', uses: FROM_SPEC },
        message: expect.stringContaining('; to search again, set the mode Auto and remove external;') as string,
      },
    ],
    [
      'waits for what its spec names no longer than its deadline, if it was never ready',
      lacks(FROM_SPEC),
      before(),
      { state: 'Failed', reason: 'DeadlineExceeded', uses: FROM_SPEC },
    ],
    [
      'goes on to use what its spec names, although it needs a token now',
      uses(3, { ...SECURED, named: FROM_SPEC }),
      usedTheirs,
      { state: 'Degraded', reason: 'ExternalUnusable', uses: FROM_SPEC },
    ],
    [
      'asks the URL of its spec',
      atUrl(),
      stackOf([]),
      { state: 'Ready', reason: 'Answering', uses: OF_URL, message: `uses ${URL} has series of x` },
    ],
    [
      'asks the URL of its spec, which does not answer',
      atUrl('does not answer'),
      stackOf([]),
      { state: 'Progressing', reason: 'ExternalUnusable', uses: OF_URL, message: `${URL} does not answer` },
    ],
    [
      'waits for what begins, and does not fail: at its deadline it has its own',
      awaits(),
      before(),
      { state: 'Progressing', reason: 'ExternalUnusable', uses: undefined },
    ],
    ['is degraded with it', uses(2), wasReady, { state: 'Degraded', reason: 'PodsUnavailable', uses: THEIRS }],
    [
      'is not told by a stale status',
      uses(3, {}, 0),
      stackOf([]),
      { state: 'Unknown', message: 'DaemonSet monitoring/node-exporter has no status of its generation yet' },
    ],
    [
      'waits for it',
      missing(),
      stackOf([]),
      {
        ...{ state: 'Progressing', reason: 'ExternalMissing', uses: undefined, replicas: undefined },
        message: `${SOUGHT} does not exist: with the mode External, another owner creates it`,
      },
    ],
    ['misses it', missing(), wasReady, { state: 'Degraded', reason: 'ExternalMissing' }],
    ['waits no longer than its deadline', missing(), before(), { state: 'Failed', reason: 'DeadlineExceeded' }],
    [
      'cannot use it',
      uses(3, SECURED),
      stackOf([]),
      {
        ...{ state: 'Progressing', reason: 'ExternalUnusable', uses: undefined },
        message: 'DaemonSet monitoring/node-exporter serves the port 9100 over HTTPS',
      },
    ],
    [
      'asks a server',
      asks(),
      stackOf([]),
      {
        ...{ state: 'Ready', reason: 'Answering', uses: PROM, replicas: undefined, version: undefined },
        message: `uses Service monitoring/prom: ${URL} has series of x`,
      },
    ],
    [
      'asks a server that does not answer',
      asks(DOWN),
      stackOf([]),
      {
        ...{ state: 'Progressing', reason: 'ExternalUnusable', uses: PROM },
        message: `Service monitoring/prom gives no answer at ${URL}: ECONNREFUSED`,
      },
    ],
    ['asks a server that no longer answers', asks(DOWN), wasReady, { state: 'Degraded', uses: PROM }],
    [
      'goes on to use it after another spec, as of an upgrade of the operator',
      asks(DOWN),
      before({ state: 'Degraded', readyRevision: 'old', revision: 'old', uses: PROM }),
      { state: 'Degraded', uses: PROM, readyRevision: REVISION },
    ],
    [
      'has used another server before the other spec',
      asks(DOWN),
      before({ state: 'Degraded', readyRevision: 'old', revision: 'old', uses: { ...PROM, name: 'other' } }),
      { state: 'Progressing', uses: PROM },
    ],
    ['can no longer use it', uses(3, SECURED), wasReady, { state: 'Degraded', reason: 'ExternalUnusable' }],
  ])('%s', (_, component, stack, wanted) => {
    const { status, apply } = planComponent(component, {
      stack,
      before: new Map(),
      now: NOW,
      left: [],
      waves: new Map(),
    });
    expect(apply).toEqual([]);
    expect(status.mode).toBe('External');
    for (const [field, value] of Object.entries(wanted))
      expect([field, status[field as keyof ComponentStatus]]).toEqual([field, value]);
  });

  it('is of the stack if the flags have made it before: with Auto, it is adopted', () => {
    const { objects, spec, pods, variables, revision } = uses(3);
    const labels = { 'app.kubernetes.io/managed-by': 'traffic-operator' };
    const flagged = objects.map((each) => {
      const live = { ...each.live, metadata: { ...each.live?.metadata, labels } };
      return { ...each, live, fieldManager: 'measurement' };
    });
    const own = { pods, variables, revision, objects: flagged };
    const component = { ...own, spec: { ...spec, mode: 'Auto' as const } };
    const { status, apply } = planComponent(component, {
      stack: stackOf([]),
      before: new Map(),
      now: NOW,
      left: [],
      waves: new Map(),
    });
    expect([status.mode, status.reason, apply]).toEqual([undefined, 'Applying', flagged]);
  });

  it('is named to those that wait for it as what is looked for', () => {
    const { what } = planComponent(missing(), {
      stack: stackOf([]),
      before: new Map(),
      now: NOW,
      left: [],
      waves: new Map(),
    });
    expect(what).toBe(SOUGHT);
  });

  it.each([
    ['is missing', missing()],
    ['is not ready', uses(0)],
    ['is ready', uses(3)],
  ])('gives its own up at once, since both need the port: the exporter of another owner %s', (_, component) => {
    const ownerReferences = [{ uid: 'stack-uid', kind: 'TrafficStack', name: 'main', apiVersion: 'x' }];
    const metadata = { namespace: 'op', name: 'node-exporter', ownerReferences };
    const own: LeftObject = { component: 'exporter', resource: DAEMONSETS, live: { kind: 'DaemonSet', metadata } };
    const inventory = [{ component: 'exporter', dependsOn: [], objects: [] }];
    const stack = stackOf([], { inventory });
    const planned = planStack({ stack, components: [component], left: [own], withPods: new Map(), now: NOW });
    expect(planned.remove).toEqual([own]);
    expect(planned.inventory.flatMap(({ objects }) => objects.map(({ namespace }) => namespace))).toEqual(['op']);
  });
});
