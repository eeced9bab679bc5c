import { describeComponent } from '../components/component.ts';
import { isForeign, type ObservedComponent } from './plan.ts';

/** What an answer comes through: the Service that is asked, and the Deployment of the pods behind it. */
const ANSWERING = ['Service', 'Deployment'];

/**
 * Which object under the name of the operator's own Prometheus is somebody else's, and what to do about it; undefined
 * where none is. Whatever answers there may have series of another cluster, or none: it is not to be asked.
 */
export function foreignServer(components: readonly ObservedComponent[]): string | undefined {
  const servers = components.filter(
    ({ component: { group, resource } }) => group === 'prometheus' && ANSWERING.includes(resource.kind),
  );
  const foreign = servers.find(isForeign);
  if (foreign === undefined) return undefined;
  const object = describeComponent(foreign.component);
  return `${object} was not made by this operator, so it is not asked: take it away, and the operator makes its own; or say which Prometheus to ask with --prometheus-url, prometheus.url in the chart`;
}
