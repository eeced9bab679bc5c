import { idOf } from '../../../runtime/objectSet/member.ts';
import { isForeign, type Observed } from '../../../runtime/objectSet/plan.ts';
import type { Component } from '../components/component.ts';
import { OWNER } from '../names.ts';

/** What an answer comes through: the Service that is asked, and the Deployment of the pods behind it. */
const ANSWERING = ['Service', 'Deployment'];

/**
 * Which object under the name of the operator's own Prometheus is somebody else's, and what to do about it; undefined
 * where none is. Whatever answers there may have series of another cluster, or none: it is not to be asked.
 */
export function foreignServer(components: readonly Observed<Component>[]): string | undefined {
  const servers = components.filter(
    ({ member: { group, resource } }) => group === 'prometheus' && ANSWERING.includes(resource.kind),
  );
  const foreign = servers.find((each) => isForeign(OWNER, each));
  if (foreign === undefined) return undefined;
  const object = idOf(foreign.member);
  return `${object} was not made by this operator, so it is not asked: take it away, and the operator makes its own; or say which Prometheus to ask with --prometheus-url, prometheus.url in the chart`;
}
