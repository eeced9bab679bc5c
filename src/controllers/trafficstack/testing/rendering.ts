import type {
  ComponentSpec,
  TrafficStackSpec,
  WorkloadComponent,
  WorkloadSpec,
} from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { renderStack } from '../render/stack.ts';
import { component, stackOf } from './stacks.ts';

/** Nodes with any labels. */
export const NODES = 3;
/** The workload of `component`, with changes. */
export const workload = (over: Partial<WorkloadSpec> = {}): WorkloadSpec => ({ ...component('db').workload, ...over });
/** A StatefulSet whose pods have names. */
export const db = (over: Partial<WorkloadSpec> = {}): WorkloadComponent => {
  const services = [{ headless: true, ports: [{ name: 'sql', port: 80, targetPort: 5432 }] }];
  return component('db', { workload: workload({ kind: 'StatefulSet', services, ...over }) });
};
/** Renders these components in a stack. */
function render(components: readonly ComponentSpec[], over: Partial<TrafficStackSpec> = {}, nodes = NODES) {
  return renderStack(stackOf([]), over, components, { countNodes: () => nodes, builtIns: [] });
}
/** The objects of the last component, by kind. */
export function objects(components: readonly ComponentSpec[], over: Partial<TrafficStackSpec> = {}) {
  const result = render(components, over);
  if ('problems' in result) throw new Error(result.problems.join());
  const all =
    result.components.at(-1)?.objects.map(({ object }) => object as KubeObject & Record<string, unknown>) ?? [];
  return new Map(all.map((object) => [object.kind, object]));
}
/** Returns the problems of these components. */
export const problems = (...args: Parameters<typeof render>): readonly string[] => {
  const result = render(...args);
  return 'problems' in result ? result.problems : [];
};
