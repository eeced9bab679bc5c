import type { V1PodSecurityContext, V1PodTemplateSpec } from '@kubernetes/client-node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { connectivityCheckCrd, installCrd } from '../harness/customResource.ts';
import { startOperator, type Operator } from '../harness/operator.ts';
import { useConnectedPlane } from './connectedPlane.ts';

/** The pods that the operator's process deploys, with --openshift and without it. */
const WAIT = { timeout: 120_000, interval: 100 };
const DEPLOYED: readonly [Resource, string, string][] = [
  [DEPLOYMENTS, 'default', 'prometheus'],
  [DAEMONSETS, 'default-node-exporter', 'node-exporter'],
  [DEPLOYMENTS, 'default', 'netchecker-server'],
  [DAEMONSETS, 'default-connectivity', 'netchecker-agent'],
  [DAEMONSETS, 'default-connectivity', 'netchecker-agent-hostnet'],
];
const RESTRICTED = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
const NOBODY = { ...RESTRICTED, runAsUser: 65534, runAsGroup: 65534 };
const NONROOT = { ...RESTRICTED, runAsUser: 65532, runAsGroup: 65532 };
const WITH_IDS = [{ ...NOBODY, fsGroup: 65534 }, NOBODY, NONROOT, NONROOT, NONROOT];

const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client);
  await installCrd(client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
});
let operator: Operator;
afterEach(() => operator.kill());

async function start(...flags: readonly string[]): Promise<void> {
  const args = ['--namespace=default', '--scrape-interval=1s', '--connectivity', '--connectivity-image=ours:1'];
  operator = await startOperator({
    kubeconfig: scene.plane.kubeconfig,
    prometheusUrl: undefined,
    args: [...args, ...flags],
    until: 'alive',
  });
}

type Workload = KubeObject & { readonly spec?: { readonly template: V1PodTemplateSpec } };

function securityContexts(): Promise<(V1PodSecurityContext | undefined)[]> {
  return Promise.all(
    DEPLOYED.map(async ([resource, namespace, name]) => {
      const found: Workload = await scene.connected.client.get(resource, { namespace, name });
      return found.spec?.template.spec?.securityContext;
    }),
  );
}

describe('the pods of the operator', () => {
  it.each<[string, string[], object[]]>([
    ['have IDs of their own', [], WITH_IDS],
    ['lose them once the operator is told that this is OpenShift', ['--openshift'], DEPLOYED.map(() => RESTRICTED)],
    ['have them again without the flag', [], WITH_IDS],
  ])('%s', async (_what, flags, expected) => {
    await start(...flags);
    await vi.waitFor(async () => expect(await securityContexts()).toEqual(expected), WAIT);
  });
});
