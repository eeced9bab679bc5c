import { PrometheusError } from '../../../prometheus/prometheusError.ts';
import type { PrometheusClient } from '../../../prometheus/prometheusClient.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { getIfExists } from '../../../runtime/client/getIfExists.ts';
import type { Resource } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { Component } from '../components/component.ts';
import { foreignServer } from '../components/foreignServer.ts';
import type { Observed } from '../../../runtime/objectSet/plan.ts';
import { PROMETHEUS_NAME } from '../names.ts';

/**
 * Wraps a client of the deployed Prometheus, so that it never queries a Prometheus that somebody else created under the
 * same name. `query` throws PrometheusError BadConfiguration while there is one.
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
