import {
  isWorkload,
  type ComponentStatus,
  type RolledBackFrom,
  type TrafficStack,
  type UpgradeSpec,
} from '../../../api/trafficstack/trafficStack.ts';
import type { RenderedComponent } from '../render/stack.ts';
import type { StoredRevision } from '../render/storedRevision.ts';

/** A component with the objects that it should have now. */
export interface Target extends RenderedComponent {
  /** The namespace in which its last ready revision is stored, to be restored. Undefined if it cannot be rolled back. */
  readonly revisionsIn?: string;
  /** Its last ready revision. Undefined if there is none, and if it cannot be rolled back. */
  readonly stored?: StoredRevision;
  /** Set if the revision of the spec has failed: the objects are those of `stored`, if there is one. */
  readonly rolledBackFrom?: RolledBackFrom;
}

/**
 * Which objects a component should have.
 *
 * | `rollback` | the status says that the revision of the spec has failed | a revision is stored | objects       |
 * |------------|------|------|------------------------------------------------------------------------------------|
 * | off, External, or a TrafficWeight | any | any | those of the spec                                               |
 * | on         | no   | any  | those of the spec                                                                    |
 * | on         | yes  | yes  | the stored ones, without the conditions of `ready`, which are those of the failed one |
 * | on         | yes  | no   | those of the spec, with `rolledBackFrom`: they are not applied                       |
 *
 * A TrafficWeight that goes to 0 drains its cluster, and may not be ready for another reason than its weight, such as a conflict of Ingresses: to
 * put the weight back would send traffic there. It has a rollback of its own, spec.ramp.
 *
 * @param namespace that of the operator: a built-in component may have objects in several namespaces, or in none
 */
export function targetOf(
  rendered: RenderedComponent,
  {
    stack,
    upgrade,
    stored,
    namespace,
  }: {
    readonly stack: TrafficStack;
    readonly upgrade: UpgradeSpec;
    readonly stored: StoredRevision | undefined;
    readonly namespace: string;
  },
): Target {
  const { spec, revision } = rendered;
  const isExempt = spec.rollback === false || spec.mode === 'External' || spec.type === 'Weights';
  if (upgrade.rollback !== true || isExempt) return rendered;
  const revisionsIn = isWorkload(spec) ? spec.workload.namespace : namespace;
  const target: Target = { ...rendered, revisionsIn, ...(stored && { stored }) };
  const rolledBackFrom = priorOf(stack, spec.name)?.rolledBackFrom;
  if (rolledBackFrom?.revision !== revision) return target;
  if (stored === undefined) return { ...target, rolledBackFrom };
  const { objects, revision: restored } = stored;
  return { ...target, rolledBackFrom, spec: { ...spec, ready: undefined }, objects, revision: restored };
}

function priorOf({ status }: TrafficStack, component: string): ComponentStatus | undefined {
  return status?.components?.find(({ name }) => name === component);
}
