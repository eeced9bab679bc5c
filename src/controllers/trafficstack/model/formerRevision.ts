import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { RenderedComponent } from '../render/stack.ts';

/** The fields of a status that are revisions. */
const REVISIONS = [
  ...(['revision', 'readyRevision', 'lastReadyRevision'] as const),
  ...(['earlierReadyRevision', 'unreadyRevision'] as const),
];

/**
 * Returns a stack whose status has the present revisions of the components instead of their former ones, which the release before computed from the
 * same specs without the rendered objects. Otherwise each workload would count as changed after an upgrade of the operator: a Degraded one would fail
 * at its deadline, the query of a Ready one would be asked again, and a revision that was rolled back would be applied again.
 *
 * It can go in the release after next, with `former` of RenderedComponent: statuses that the next release finds have the present revisions.
 */
export function withPresentRevisions(
  stack: TrafficStack,
  components: readonly Pick<RenderedComponent, 'spec' | 'former'>[],
): TrafficStack {
  const known = stack.status?.components;
  if (known === undefined) return stack;
  const byName = new Map(components.map(({ spec, former }) => [spec.name, former]));
  return {
    ...stack,
    status: { ...stack.status, components: known.map((each) => present(each, byName.get(each.name))) },
  };
}

function present(status: ComponentStatus, former: RenderedComponent['former']): ComponentStatus {
  if (former === undefined) return status;
  const { rolledBackFrom } = status;
  const renamed = REVISIONS.filter((field) => status[field] === former.revision).map(
    (field) => [field, former.now] as const,
  );
  return {
    ...status,
    ...Object.fromEntries(renamed),
    ...(rolledBackFrom && { rolledBackFrom: withPresentRevision(rolledBackFrom, former) }),
  };
}

/** Returns a stored or failed revision with the present name of its revision: see withPresentRevisions. */
export function withPresentRevision<T extends { readonly revision: string }>(
  of: T,
  former: RenderedComponent['former'],
): T {
  return former !== undefined && of.revision === former.revision ? { ...of, revision: former.now } : of;
}
