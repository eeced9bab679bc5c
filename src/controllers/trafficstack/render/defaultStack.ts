import type { BuiltInType } from '../../../api/trafficstack/terms.ts';
import type { ComponentSpec, TrafficStack, TrafficStackSpec } from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { MANAGED_BY, OPERATOR } from '../../contract/labels.ts';
import { DEFAULT_STACK } from '../names.ts';

/**
 * The stack `default`: a component for each built-in type that the flags deploy and that no other stack names. They have no settings,
 * so those of the flags hold until people write some. Undefined if there is no such type.
 */
export function defaultStackOf(
  builtIns: readonly BuiltIn[],
  others: readonly TrafficStack[],
): Pick<TrafficStack, 'metadata' | 'spec'> | undefined {
  const staying = others.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  const named = new Set(staying.flatMap(typesIn));
  const types = builtIns
    .filter(({ type, isDeployed, problem }) => isDeployed && problem === undefined && !named.has(type))
    .map(({ type }) => type);
  if (types.length === 0) return undefined;
  return {
    metadata: { name: DEFAULT_STACK, labels: { [MANAGED_BY]: OPERATOR } },
    spec: { components: types.map(componentOf) },
  };
}

/** Whether a stack is the operator's: the stack `default`, if it has made it, and nobody has added a workload. */
export function isOfOperator(stack: TrafficStack): boolean {
  const { metadata } = stack;
  const isMade = metadata?.name === DEFAULT_STACK && metadata.labels?.[MANAGED_BY] === OPERATOR;
  return isMade && !typesIn(stack).includes('Workload');
}

function typesIn({ spec }: TrafficStack): string[] {
  // An older CRD may have accepted anything.
  const { components = [] } = (spec as Partial<TrafficStackSpec> | undefined) ?? {};
  return components.map(({ type }) => type);
}

/** With the name `node-exporter` for the type NodeExporter. */
function componentOf(type: BuiltInType): ComponentSpec {
  return { name: type.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase(), type };
}
