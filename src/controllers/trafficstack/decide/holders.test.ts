import type { V1ContainerPort } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { ComponentSpec, ComponentStatus, InventoryEntry } from '../../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import type { LeftObject, ObservedComponent, SeenEvent, StackPod } from '../model/observation.ts';
import { at, component, NOW, observed, pod, REVISION, stackOf, type There } from '../testing/stacks.ts';
import { exclusiveOf } from './exclusive.ts';
import { planStack } from './plan.ts';

const OWNERS = [{ apiVersion: 'v1', kind: 'TrafficStack', name: 'main', uid: 'stack-uid', controller: true }];
const entry = (name: string, ...dependsOn: string[]): InventoryEntry => {
  return { component: name, dependsOn, objects: [{ kind: 'Deployment', namespace: 'shop', name }] };
};
const left = (name: string, of = name): LeftObject => {
  return { component: of, resource: DEPLOYMENTS, live: { metadata: { namespace: 'shop', name } } };
};
/** A component with the workload of another name. */
const named = (name: string, workload: string, ...dependsOn: string[]): ComponentSpec =>
  component(name, { dependsOn, workload: { ...component(name).workload, name: workload } });
/** A component whose workload still belongs to another component. */
function heldBy(other: string, spec: ComponentSpec): ObservedComponent {
  const { objects, ...rest } = observed(spec, 'old');
  return { ...rest, objects: objects.map((each) => ({ ...each, heldBy: other })) };
}

function plan(
  components: readonly ObservedComponent[],
  inventory: InventoryEntry[],
  objects: readonly LeftObject[],
  before: ComponentStatus[] = [],
) {
  const stack = stackOf(
    components.map(({ spec }) => spec),
    { inventory, components: before },
  );
  const { remove, statuses } = planStack({
    ...{ stack, components, left: objects, withPods: new Map(), now: NOW },
  });
  const removing = statuses.filter(({ state }) => state === 'Removing');
  return {
    remove: remove.map(({ live }) => live.metadata?.name),
    removing: removing.map(({ name, message }) => `${name}: ${message}`),
  };
}

describe('a component that got another name, with the same workload', () => {
  const b = heldBy('a', named('b', 'a'));
  const c = component('c', { dependsOn: ['b'] });
  const inventory = [entry('a'), entry('c', 'a')];

  it.each<[string, There]>([
    ['is changed, too', 'old'],
    ['is not ready, which the removed one may be the cause of', { available: 1 }],
  ])('is removed although what depended on it %s: it would wait without end', (_, there) => {
    expect(plan([b, observed(c, there)], inventory, [left('a')])).toEqual({
      remove: ['a'],
      removing: ['a: being deleted: Deployment shop/a'],
    });
  });

  it('is removed also if what depended on it depends on the new one by way of others', () => {
    const [middle, end] = [component('m', { dependsOn: ['b'] }), component('c', { dependsOn: ['m'] })];
    const scene = [b, observed(middle, 'none'), observed(end, 'old')];
    expect(plan(scene, inventory, [left('a')]).remove).toEqual(['a']);
  });

  it('stays while one that does not wait for the removal may still use it, and names that one', () => {
    const d = observed(component('d'), { available: 1 });
    expect(plan([b, observed(c, 'old'), d], [...inventory, entry('d', 'a')], [left('a')])).toEqual({
      remove: [],
      removing: ['a: waits for d, which depended on it and is not ready yet'],
    });
    const ready = observed(component('d'), { available: 2 });
    expect(plan([b, observed(c, 'old'), ready], [...inventory, entry('d', 'a')], [left('a')]).remove).toEqual(['a']);
  });

  it('stays while it has its own workload, and what depended on it is not ready', () => {
    const own = observed(component('b'), 'none');
    expect(plan([own, observed(c, 'old')], inventory, [left('a')])).toEqual({
      remove: [],
      removing: ['a: waits for c, which depended on it and is not ready yet'],
    });
  });

  it('is removed after others that got another name and depended on it', () => {
    const h = heldBy('g', named('h', 'g', 'b'));
    const end = observed(component('c', { dependsOn: ['h'] }), 'old');
    const all = [entry('a'), entry('g', 'a'), entry('c', 'g')];
    expect(plan([b, h, end], all, [left('a'), left('g')])).toEqual({
      remove: ['g'],
      removing: ['a: waits for g, which depends on it and is not gone yet', 'g: being deleted: Deployment shop/g'],
    });
    expect(plan([b, observed(named('h', 'g', 'b'), 'none'), end], all, [left('a')]).remove).toEqual(['a']);
  });

  it('and another component are removed if each keeps the other', () => {
    const h = heldBy('g', named('h', 'g'));
    const [one, other] = [component('c', { dependsOn: ['h'] }), component('d', { dependsOn: ['b'] })];
    const all = [entry('a'), entry('g'), entry('c', 'a'), entry('d', 'g')];
    const scene = [b, h, observed(one, 'old'), observed(other, 'old')];
    expect(plan(scene, all, [left('a'), left('g')]).remove).toEqual(['a', 'g']);
  });
});

it('two that are removed, of which each depended on the other at some time, are removed at once', () => {
  expect(plan([], [entry('a', 'g'), entry('g', 'a')], [left('a'), left('g')]).remove).toEqual(['a', 'g']);
});

it('an object that a component no longer has is removed before it is ready if it waits for the component that gets it', () => {
  const b = heldBy('a', named('b', 'one'));
  const objects = [left('one', 'a')];
  const waits = observed(named('a', 'two', 'b'), 'none');
  expect(plan([b, waits], [entry('a')], objects).remove).toEqual(['one']);
  const waitsNot = observed(named('a', 'two'), { available: 1 });
  expect(plan([waitsNot, b], [entry('a')], objects).remove).toEqual([]);
});

describe('a component that needs what a removed component has', () => {
  const template = (port: V1ContainerPort, over: object = {}) => ({
    spec: { containers: [{ name: 'main', image: 'a:1', ports: [port] }], ...over },
  });
  const WITH_PORT = template({ containerPort: 80, hostPort: 9100 });
  const claim = (claimName: string) =>
    template({ containerPort: 80 }, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] });
  const c = component('c', { dependsOn: ['fresh'] });
  const removed = (
    podTemplate: object,
    there: There,
    pods: readonly StackPod[] = [{ ...pod('fresh-1'), unscheduledMessage: 'no free ports' }],
    events: readonly SeenEvent[] = [],
  ) => {
    const fresh = component('fresh', { workload: { ...component('fresh').workload, podTemplate } });
    const old = (of: object): LeftObject => ({
      ...left('old'),
      live: { kind: 'Deployment', metadata: { namespace: 'shop', name: 'old' }, spec: { template: of } } as KubeObject,
    });
    return (of: object) =>
      plan(
        [{ ...observed(fresh, there, pods), events }, observed(c, 'old')],
        [entry('old'), entry('c', 'old')],
        [old(of)],
      ).remove;
  };

  it.each<[string, object, object, boolean]>([
    ['a port of nodes', WITH_PORT, WITH_PORT, true],
    ['a port of nodes, in their network', template({ containerPort: 9100 }, { hostNetwork: true }), WITH_PORT, true],
    ['a claim', claim('data'), claim('data'), true],
    ['another port', template({ containerPort: 80, hostPort: 9101 }), WITH_PORT, false],
    [
      'the same port of another protocol',
      template({ containerPort: 80, hostPort: 9100, protocol: 'UDP' }),
      WITH_PORT,
      false,
    ],
    ['another claim', claim('data'), claim('logs'), false],
    ['a port of its pods only', template({ containerPort: 9100 }), WITH_PORT, false],
  ])('lets it go first: %s', (_, fresh, old, isRemoved) => {
    expect(removed(fresh, { available: 0 })(old)).toEqual(isRemoved ? ['old'] : []);
  });

  const CREATING = pod('fresh-1', { waiting: { reason: 'ContainerCreating', message: '' } });
  const warning = (reason: string, message: string): SeenEvent => ({ isWarning: true, reason, message, at: NOW });
  const ATTACHED = warning(
    'FailedAttachVolume',
    'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node and can\'t be attached to another',
  );

  it.each<[string, object, SeenEvent[], boolean]>([
    ['a claim whose volume another node has', claim('data'), [ATTACHED], true],
    ['a claim, and nothing tells why its pod does not start', claim('data'), [], false],
    ['a claim, and a Secret is missing', claim('data'), [warning('FailedMount', 'secret "x" not found')], false],
    ['a claim, and the cloud cannot attach', claim('data'), [warning('FailedAttachVolume', 'rpc error')], false],
    ['a port, which other nodes have free', WITH_PORT, [ATTACHED], false],
  ])('lets it go first only if its pods cannot start beforehand: %s', (_, both, events, isRemoved) => {
    expect(removed(both, { available: 0 }, [CREATING], events)(both)).toEqual(isRemoved ? ['old'] : []);
  });

  it.each<[string, number | undefined, boolean]>([
    ['data-old-0', undefined, true],
    ['data-old-2', 3, true],
    ['data-old-3', 3, false],
    ['data-old', 3, false],
    ['data-old-9999', 2 ** 31 - 1, true],
  ])('lets a StatefulSet go first that has made its claim: %s of %s pods', (claimName, replicas, isRemoved) => {
    const fresh = component('fresh', { workload: { ...component('fresh').workload, podTemplate: claim(claimName) } });
    const old = {
      ...left('old'),
      live: {
        ...{ kind: 'StatefulSet', metadata: { namespace: 'shop', name: 'old' } },
        spec: { replicas, volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
      } as KubeObject,
    };
    const scene = [{ ...observed(fresh, { available: 0 }, [CREATING]), events: [ATTACHED] }, observed(c, 'old')];
    expect(plan(scene, [entry('old'), entry('c', 'old')], [old]).remove).toEqual(isRemoved ? ['old'] : []);
  });

  it('leaves manifests with null for a list alone', () => {
    const empty = {
      template: { spec: { containers: null, volumes: null } },
      volumeClaimTemplates: null,
      replicas: null,
    };
    const live = { kind: 'StatefulSet', metadata: { namespace: 'shop', name: 'old' }, spec: empty };
    expect(exclusiveOf(live as unknown as KubeObject)).toEqual([]);
  });

  it.each<[string, string, ComponentStatus['state'], boolean]>([
    ['of one domain', 'example.org', 'Failed', true],
    ['of another domain', 'example.net', 'Failed', false],
    ['of one domain, before the deadline', 'example.org', 'Progressing', false],
  ])('lets a TrafficWeight go first when it has missed its deadline: %s', (_, domain, state, isRemoved) => {
    const weight = (name: string, bindingDomain: string) => ({
      ...{ kind: 'TrafficWeight', metadata: { name, uid: `uid-${name}`, generation: 1, ownerReferences: OWNERS } },
      spec: { clusterName: 'a', bindingDomain, backend: { static: { weight: 1 } } },
    });
    const conditions = [{ type: 'Ready', status: 'False', reason: 'X', message: 'M.', observedGeneration: 1 }];
    const live = { ...weight('fresh', 'example.org'), status: { observedGeneration: 1, conditions } };
    const object = { resource: TRAFFIC_WEIGHTS, object: weight('fresh', 'example.org'), hash: 'h' };
    const fresh: ObservedComponent = {
      ...{ spec: { name: 'fresh', type: 'Weights' }, pods: [], variables: {}, revision: REVISION },
      objects: [{ ...object, live, isCurrent: true }],
    };
    const old = { component: 'old', resource: TRAFFIC_WEIGHTS, live: weight('old', domain) };
    const before: ComponentStatus = {
      ...{ name: 'fresh', type: 'Weights', state, reason: 'X', message: '', since: at(0), revision: REVISION },
    };
    const inventory = [entry('old'), entry('c', 'old')];
    expect(plan([fresh, observed(c, 'old')], inventory, [old], [before]).remove).toEqual(isRemoved ? ['old'] : []);
  });

  it('starts next to it as long as a node takes its pods: some claims serve several pods', () => {
    expect(removed(WITH_PORT, { available: 0 }, [])(WITH_PORT)).toEqual([]);
  });

  it('has it already once it is ready', () => {
    expect(removed(WITH_PORT, { available: 2 })(WITH_PORT)).toEqual([]);
  });
});
