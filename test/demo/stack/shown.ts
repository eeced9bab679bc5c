import type { TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { say } from '../steps.ts';
import { told } from './openSdn.ts';

/** The last printed line of each component. */
const shown = new Map<string, string>();

/** Prints the components whose state has changed since it was last called, those that wait for the same one in one line. */
export function show({ status }: TrafficStack): void {
  const changed = (status?.components ?? []).filter(({ name, state, waitingOn }) => {
    const key = `${state} ${waitingOn?.component}`;
    const isNew = shown.get(name) !== key;
    shown.set(name, key);
    return isNew;
  });
  for (const component of changed) if (component.waitingOn === undefined) say(`  ${told(component)}`);
  const roots = Map.groupBy(changed, ({ waitingOn }) => waitingOn?.component);
  roots.delete(undefined);
  for (const [root, waiting] of roots) say(`  wait for ${root}: ${waiting.map(({ name }) => name).join(', ')}`);
}
