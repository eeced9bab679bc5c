import { readFileSync } from 'node:fs';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';

const DEPLOY = new URL('../../deploy/', import.meta.url);

export const CRDS: Resource<V1CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** The CRD of TrafficWatches in deploy/. */
export function trafficWatchCrd(): V1CustomResourceDefinition {
  return crdOf('crds/traffic.example.com_trafficwatches.yaml');
}

/** The CRD of Agents in deploy/. */
export function agentCrd(): V1CustomResourceDefinition {
  return crdOf('connectivity/agents.yaml');
}

/** The CRD of TrafficWeights in deploy/. */
export function trafficWeightCrd(): V1CustomResourceDefinition {
  return crdOf('crds/traffic.example.com_trafficweights.yaml');
}

/** The CRD of TrafficStacks in deploy/. */
export function trafficStackCrd(): V1CustomResourceDefinition {
  return crdOf('crds/traffic.example.com_trafficstacks.yaml');
}

/** The CRD of ConnectivityChecks in deploy/. */
export function connectivityCheckCrd(): V1CustomResourceDefinition {
  return crdOf('crds/traffic.example.com_connectivitychecks.yaml');
}

function crdOf(path: string): V1CustomResourceDefinition {
  const text = readFileSync(new URL(path, DEPLOY), 'utf8');
  return parse(text, { version: '1.1' }) as V1CustomResourceDefinition;
}

/** Creates a CRD, by default that of TrafficWatches, and waits until its objects can be listed. */
export async function installCrd(
  client: Client,
  crd = trafficWatchCrd(),
  resource: Resource = TRAFFIC_WATCHES,
): Promise<void> {
  await client.create(CRDS, crd);
  const established = async (): Promise<boolean> =>
    client.list(resource).then(
      () => true,
      () => false,
    );
  while (!(await established())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Requests the deletion of the CRD and of all its objects. */
export function removeCrd(client: Client): Promise<void> {
  return client.delete(CRDS, { name: trafficWatchCrd().metadata?.name ?? '' });
}
