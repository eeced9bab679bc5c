import { DEFAULT_DEADLINE } from '../../../api/trafficstack/terms.ts';
import type {
  CommonSpec,
  ComponentSpec,
  HighAvailabilitySpec,
  WorkloadComponent,
} from '../../../api/trafficstack/trafficStack.ts';
import { appliedHash } from '../../../runtime/apply/difference.ts';
import type { StandIn } from '../../contract/builtIn.ts';
import type { ComponentFacts } from './facts.ts';
import type { DesiredObject } from './objects.ts';

/** Hexadecimal digits. */
const DIGITS = 16;

/** What people wrote that decides about a component. */
export interface Source {
  readonly spec: WorkloadComponent;
  readonly common: CommonSpec;
  /** Undefined if it is not for the component. */
  readonly availability: HighAvailabilitySpec | undefined;
  /** Of the components that it depends on, without the number of nodes: for its files. */
  readonly dependencies: readonly ComponentFacts[];
}

/**
 * The revision of a component: another text after each change of its spec, and of what its pods and files have of the stack. A node that
 * joins changes the objects of a component, and not its revision: nobody asked for another version.
 */
export function revisionOf({ spec, common, availability, dependencies }: Source): string {
  const { name, type, deadline = DEFAULT_DEADLINE, ready, workload } = spec;
  const { logLevel, ...placement } = common;
  const files = workload.config === undefined ? {} : { logLevel, dependencies };
  return textOf({ name, type, deadline, ready, workload, placement, availability, ...files });
}

/** That of a built-in component. Another operator may render other objects of the same spec: that is another revision. */
export function builtInRevisionOf(
  { name, type, deadline = DEFAULT_DEADLINE, ready, external }: ComponentSpec,
  objects: readonly DesiredObject[],
  standIn?: Pick<StandIn, 'sought'>,
): string {
  const own = { name, type, deadline, ready, objects: objects.map(({ object }) => object) };
  // With the mode Auto, its own objects say which port is looked for.
  return textOf(objects.length > 0 ? own : { ...own, sought: standIn?.sought, external });
}

function textOf(source: object): string {
  return appliedHash(source).slice(0, DIGITS);
}
