import { readFileSync } from 'node:fs';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { vi } from 'vitest';
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

/** The CRD of PodPlacements in deploy/. */
export function podPlacementCrd(): V1CustomResourceDefinition {
  return crdOf('crds/traffic.example.com_podplacements.yaml');
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

/** The CRD of PrometheusRules, as prometheus-operator has it. */
export function prometheusRuleCrd(): V1CustomResourceDefinition {
  return crdOf('../test/chart/testdata/monitoring.coreos.com_prometheusrules.yaml');
}

function crdOf(path: string): V1CustomResourceDefinition {
  const text = readFileSync(new URL(path, DEPLOY), 'utf8');
  return parse(text, { version: '1.1' }) as V1CustomResourceDefinition;
}

/** Creates a CRD, by default of TrafficWatches, and waits until its objects can be listed. */
export async function installCrd(
  client: Client,
  crd = trafficWatchCrd(),
  resource: Resource = TRAFFIC_WATCHES,
): Promise<void> {
  await client.create(CRDS, crd);
  const isServed = async (): Promise<boolean> =>
    client.list(resource).then(
      () => true,
      () => false,
    );
  while (!(await isServed())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/**
 * Waits until CRDs that kubectl has created are served. `kubectl wait` fails at once on a CRD that has no conditions yet, see
 * https://github.com/kubernetes/kubernetes/issues/66439: it is called again.
 * @param kubectl - runs kubectl; if it fails, rejects or answers so
 * @param crds - which ones, as arguments of kubectl
 */
export async function established(
  kubectl: (args: readonly string[]) => Promise<string | { readonly ok: boolean; readonly text: string }>,
  crds: readonly string[],
): Promise<void> {
  const wait = ['wait', '--for=condition=Established', '--timeout=60s', ...crds];
  const isServed = async (): Promise<void> => {
    const answer = await kubectl(wait);
    if (typeof answer !== 'string' && !answer.ok) throw new Error(answer.text);
  };
  await vi.waitFor(isServed, { timeout: 90_000, interval: 200 });
}

/** Requests the deletion of the CRD and of all its objects. */
export function removeCrd(client: Client): Promise<void> {
  return client.delete(CRDS, { name: trafficWatchCrd().metadata?.name ?? '' });
}
