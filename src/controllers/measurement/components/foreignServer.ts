import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { isForeign, type Observed } from '../../../runtime/objectSet/plan.ts';
import type { Component } from './component.ts';
import { prometheusSelector } from './prometheus.ts';
import { OWNER } from '../../contract/labels.ts';
import { isOfAnyStack } from '../../contract/stackOwner.ts';

/** The kinds that decide which server answers a query: the Service, and the Deployment of its pods. */
const ANSWERING = ['Service', 'Deployment'];

/**
 * Returns a message that names a foreign object under a name of the deployed Prometheus, and says what to do. Undefined if
 * there is none. A foreign Prometheus must not be queried: it may have series of another cluster, or none.
 */
export function foreignServer(components: readonly Observed<Component>[]): string | undefined {
  const servers = components.filter(
    ({ member: { group, resource } }) => group === 'prometheus' && ANSWERING.includes(resource.kind),
  );
  const foreign = servers.find((each) => isForeign(OWNER, each) && !isOfStack(each));
  if (foreign === undefined) return undefined;
  const object = idOf(foreign.member);
  return `${object} was not made by this operator, so it is not queried: delete it, and the operator creates its own; or set the Prometheus to query with --prometheus-url, prometheus.url in the chart`;
}

/** Whether a TrafficStack created the object, as a component of the type Prometheus. */
function isOfStack({ member, live }: Observed<Component>): boolean {
  const { namespace = '' } = member.object.metadata ?? {};
  return isOfAnyStack(live, prometheusSelector(namespace));
}
