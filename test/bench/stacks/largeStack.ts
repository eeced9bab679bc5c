import type { ComponentSpec, ComponentStatus, TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { parseTrafficStackSpec } from '../../../src/api/trafficstack/schema.ts';
import { orderComponents } from '../../../src/controllers/trafficstack/model/desired.ts';
import { planStack, type StackPlan } from '../../../src/controllers/trafficstack/decide/plan.ts';
import type { ObservedComponent } from '../../../src/controllers/trafficstack/model/observation.ts';
import { resourceOfKind } from '../../../src/controllers/trafficstack/render/kinds.ts';
import { renderStack, type RenderedComponent } from '../../../src/controllers/trafficstack/render/stack.ts';
import { appliedHash } from '../../../src/runtime/apply/apply.ts';

/** The objects of all components that exist. `deleted`: all, and the stack is being deleted. */
export type There = 'none' | 'ready' | 'changed' | 'unavailable' | 'deleted';

const NOW = Date.UTC(2026, 0, 1);
const UID = 'stack-uid';

/** A stack in which each component depends on those before it, until there are so many dependencies. Its spec has them in reverse. */
export function largeStack(count: number, edges: number): TrafficStack {
  const each = Math.ceil(edges / (count - 1)) + 1;
  let left = edges;
  const components = Array.from({ length: count }, (_, n) => {
    const dependsOn = Array.from({ length: Math.min(n, each, left) }, (_, m) => `c${n - 1 - m}`);
    left -= dependsOn.length;
    return component(`c${n}`, dependsOn);
  });
  if (left > 0) throw new Error(`${left} dependencies have no place`);
  const statuses = components.map(({ name }): ComponentStatus => {
    const since = new Date(NOW).toISOString();
    return { name, type: 'Workload', state: 'Ready', reason: 'AllAvailable', message: '', since, replicas: 2 };
  });
  return {
    metadata: { name: 'large', uid: UID, generation: 1 },
    spec: { components: components.reverse() },
    status: { components: statuses },
  };
}

function component(name: string, dependsOn: string[]): ComponentSpec {
  const podTemplate = { spec: { containers: [{ name: 'main', image: 'registry.example.com/app:1' }] } };
  const services = [{ ports: [{ port: 80 }] }];
  const files = { 'first.conf': dependsOn.length === 0 ? '' : `first=\${components.${dependsOn[0] ?? ''}.service}` };
  const config = [{ name: 'etc', mountPath: '/etc/app', files }];
  const workload = { kind: 'Deployment' as const, namespace: 'default', replicas: 2, podTemplate, services, config };
  return { name, type: 'Workload', dependsOn, workload };
}

/** The stack with all its objects in its inventory. */
export function withInventory(stack: TrafficStack): TrafficStack {
  return { ...stack, status: { ...stack.status, inventory: [...planOf(stack, 'ready').inventory] } };
}

/** Checks, orders, renders and plans, as a reconcile does. @throws Error if the stack is invalid */
export function planOf(stack: TrafficStack, there: There): StackPlan {
  if (there === 'deleted') return planOfDeletion(stack);
  const parsed = parseTrafficStackSpec(stack);
  if ('problems' in parsed) throw new Error(parsed.problems.join());
  const ordered = orderComponents(parsed.spec.components);
  if ('problems' in ordered) throw new Error(ordered.problems.join());
  const rendered = renderStack(stack, parsed.spec, ordered.components, { countNodes: () => 3, builtIns: [] });
  if ('problems' in rendered) throw new Error(rendered.problems.join());
  const components = rendered.components.map((each) => observed(each, there));
  return planStack({ stack, components, left: [], withPods: new Map(), now: NOW });
}

/** The spec of a stack that is being deleted is not looked at. */
function planOfDeletion(stack: TrafficStack): StackPlan {
  const left = (stack.status?.inventory ?? []).flatMap(({ component: of, objects }) =>
    objects.map(({ kind, namespace, name }) => {
      return { component: of, resource: resourceOfKind(kind), live: { kind, metadata: { namespace, name } } };
    }),
  );
  return planStack({ stack, components: [], left, withPods: new Map(), now: NOW });
}

function observed({ spec, objects, variables }: RenderedComponent, there: There): ObservedComponent {
  const availableReplicas = there === 'unavailable' ? 0 : 2;
  const status = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas };
  const withLive = objects.map(({ resource, object }) => {
    const live = { ...object, metadata: { ...object.metadata, generation: 1 }, status };
    const exists = there !== 'none';
    return {
      resource,
      object,
      hash: appliedHash(object),
      live: exists ? live : undefined,
      isCurrent: there === 'ready' || there === 'unavailable',
    };
  });
  return { spec, objects: withLive, pods: [], variables, revision: 'r1' };
}
