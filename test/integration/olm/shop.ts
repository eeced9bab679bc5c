import { vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { NAMESPACES } from '../../../src/runtime/client/resources.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { installCrd } from '../../harness/customResource.ts';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { dnsEndpointCrd } from '../../harness/externalDns.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { NAMESPACE } from './installed.ts';
import { Ingresses } from '../weights/ingresses.ts';
import { startFakeKubelet } from './fakeKubelet.ts';

export const SHOP = 'shop';
const WAIT = { timeout: 120_000, interval: 300 };

/** A stack with a workload, its Service and a file, and the weight of the cluster as soon as the workload is ready. */
const COMPONENTS: ComponentSpec[] = [
  {
    name: 'web',
    type: 'Workload',
    workload: {
      ...{ kind: 'Deployment', namespace: SHOP, replicas: 2 },
      podTemplate: { spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      services: [{ ports: [{ port: 80 }] }],
      config: [{ name: 'conf', mountPath: '/etc/web', files: { 'web.conf': 'port 80\n' } }],
    },
  },
  {
    ...{ name: 'dns', type: 'Weights', dependsOn: ['web'] },
    weights: { clusterName: 'cluster-a', backend: { static: { weight: 75 } }, acknowledge: 'Applied' },
  },
];

/** The stack, in a cluster with an Ingress and the CRD of external-dns. */
export interface Shop {
  /** The versions of objects that the upgrade of the operator must not write: the workload and the records. */
  versions(): Promise<(string | undefined)[]>;
  /** Deletes the stack with the operator, and then all that is not of the operator. */
  remove(): Promise<void>;
}

/** Creates the stack and waits until it is ready. */
export async function openShop(client: Client, plane: ControlPlane): Promise<Shop> {
  await installCrd(client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  await client.create(NAMESPACES, { metadata: { name: SHOP } });
  // As docs/olm.md says.
  const bound = `${NAMESPACE}-traffic-operator-stacks`;
  const account = `--serviceaccount=${NAMESPACE}:traffic-operator`;
  await kubectl(plane, ['create', 'rolebinding', 'stacks', '-n', SHOP, `--clusterrole=${bound}`, account]);
  const endKubelet = startFakeKubelet(client, SHOP);
  await new Ingresses(client).deploy(SHOP);
  await client.create(TRAFFIC_STACKS, { metadata: { name: SHOP }, spec: { components: COMPONENTS } });
  await kubectl(plane, ['wait', '--for=condition=Ready', '--timeout=120s', `trafficstack/${SHOP}`]);
  const version = (object: string, path: string): Promise<string> =>
    kubectl(plane, ['get', object, '-n', object.startsWith('deployment') ? SHOP : 'default', `-ojsonpath={${path}}`]);
  return {
    versions: async () => [
      await version('deployment/web', '.metadata.generation'),
      await version(`dnsendpoint/${SHOP}`, '.metadata.resourceVersion'),
    ],
    async remove() {
      await client.delete(TRAFFIC_STACKS, { name: SHOP });
      await vi.waitFor(async () => {
        const stack = await client.get(TRAFFIC_STACKS, { name: SHOP }).catch((error: unknown) => error);
        if (!isNotFound(stack)) throw new Error('the stack is still there');
      }, WAIT);
      await endKubelet();
      await kubectl(plane, ['delete', `ingress/${SHOP}`, `endpointslice/${SHOP}`]);
      await kubectl(plane, ['delete', `namespace/${SHOP}`, 'crd/dnsendpoints.externaldns.k8s.io']);
    },
  };
}
