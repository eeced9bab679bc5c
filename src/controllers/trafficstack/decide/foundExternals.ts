import type { ExternalKind } from '../../../api/trafficstack/terms.ts';
import type { ExternalSpec } from '../../../api/trafficstack/builtInSchema.ts';
import type { TrafficStack, UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import type { ObservedComponent } from '../observe/observation.ts';
import { isMadeByOperator } from '../render/defaultStack.ts';
import { usesOf } from './present/external.ts';

/** The external objects that components use, by the names of the components. */
export type FoundExternals = ReadonlyMap<string, ExternalSpec>;

/**
 * Returns what a search has found and the spec of the stack has to name, so that the operator reads only these objects from then on.
 *
 * | the stack                                  | the mode of the component | the component                     | named |
 * |--------------------------------------------|------|--------------------------------------------------------|-------|
 * | `default`, made by the operator            | Auto | uses what this reconcile has found, or an earlier version | yes |
 * | the same                                   | Auto | waits for what starts, cannot use what was found, or deploys its own | no |
 * | the same                                   | any other | any                                               | no: a user has decided |
 * | a stack of a user, or is being deleted     | any  | any                                                    | no: its status names it |
 *
 * The status records also what a stack of a user uses, and the operator keeps to it: see model/choice.ts. A tool that applies the spec of a user
 * would revert a change of it.
 */
export function foundExternals(stack: TrafficStack, components: readonly ObservedComponent[]): FoundExternals {
  if (!isMadeByOperator(stack) || stack.metadata?.deletionTimestamp !== undefined) return new Map();
  return new Map(
    components.flatMap((component): [string, ExternalSpec][] => {
      const { uses } = component.spec.mode === 'Auto' ? usesOf(component) : {};
      return uses === undefined ? [] : [[component.spec.name, externalOf(uses)]];
    }),
  );
}

function externalOf({ kind, namespace, name }: UsedObject): ExternalSpec {
  return kind === NODES.kind ? { kind: 'Node' } : { kind: kind as ExternalKind, namespace, name };
}
