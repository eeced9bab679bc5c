import type { UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { PrometheusError } from '../../../prometheus/prometheusError.ts';
import type { PrometheusClient } from '../../../prometheus/prometheusClient.ts';
import { type Client, getIfExists } from '../../../runtime/client/client.ts';
import type { Resource } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { Component } from '../components/component.ts';
import { idFor, idOf } from '../../../runtime/objectSet/objectSet.ts';
import { type Observed, isForeign } from '../../../runtime/objectSet/plan.ts';
import { PROMETHEUS_NAME } from '../names.ts';
import { prometheusSelector } from '../components/prometheus.ts';
import { OWNER } from '../../contract/labels.ts';
import { isOfAnyStack } from '../../contract/deployedSet.ts';

/**
 * Wraps a client of the deployed Prometheus, so that it never queries a foreign Prometheus under the same name. `query`
 * throws PrometheusError BadConfiguration while there is one.
 *
 * @param foreign returns the message about the foreign object; undefined if there is none
 */
export function askingOnlyOurs(
  client: PrometheusClient,
  foreign: () => string | undefined | Promise<string | undefined>,
): PrometheusClient {
  return {
    async query(query) {
      const problem = await foreign();
      if (problem !== undefined) throw new PrometheusError('BadConfiguration', problem);
      return client.query(query);
    },
    close: () => client.close(),
  };
}

/**
 * Wraps the client of the Prometheus that is queried, for gates and weights: whoever may create Services in the namespace of a Prometheus that was
 * found decides what it answers. `query` throws PrometheusError BadConfiguration while it is in none of these namespaces.
 *
 * @param used what a stack uses of another owner; undefined while it uses nothing
 * @param namespaces of the operator, and those that the administrator names
 */
export function askingOnlyTrusted(
  client: Pick<PrometheusClient, 'query'>,
  used: () => UsedObject | undefined,
  namespaces: readonly string[],
): Pick<PrometheusClient, 'query'> {
  return {
    async query(query) {
      const found = used();
      if (found !== undefined && !namespaces.includes(found.namespace)) {
        throw new PrometheusError('BadConfiguration', `${idFor(found, found)} ${UNTRUSTED}`);
      }
      return client.query(query);
    },
  };
}

const UNTRUSTED =
  'may belong to a tenant, so gates and weights do not query it: name its namespace in discovery.namespaces of the chart (--discovery-namespace), or set prometheus.url (--prometheus-url)';

/**
 * The same message for a process that does not keep the deployed Prometheus in a cache: reads its Service and its Deployment.
 *
 * @param namespace of the operator
 * @throws ApiError, TransportError
 */
export async function readForeignServer(client: Pick<Client, 'get'>, namespace: string): Promise<string | undefined> {
  const metadata = { namespace, name: PROMETHEUS_NAME };
  const observed = [SERVICES, DEPLOYMENTS].map(async (each): Promise<Observed<Component>> => {
    const resource = each as Resource;
    const live = await getIfExists(client, resource, metadata);
    return { member: { group: 'prometheus', resource, object: { metadata } }, live };
  });
  return foreignServer(await Promise.all(observed));
}

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
