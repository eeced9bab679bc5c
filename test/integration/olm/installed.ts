import type { V1Deployment } from '@kubernetes/client-node';
import { vi } from 'vitest';
import { runClusterScript } from '../../harness/clusterScript.ts';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { kubectl } from '../../harness/kubectl.ts';

export const NAMESPACE = 'traffic-operator-system';
const WAIT = { timeout: 120_000, interval: 200 };

/** Flags whose values depend on the pod: tests give others. */
const OF_THE_POD = /^(manager|trafficweights|--(health-probe|metrics)-bind-address=.*)$/;

/** The operator as OLM has installed it. */
export interface Installed {
  image: string;
  /** The arguments that do not depend on a pod. */
  args: string[];
  /** The variables with a value. */
  env: Record<string, string>;
}

/** Runs `olm-deploy`, and gives the catalog an address instead of its image, and the operator variables. */
export async function deployWithOlm(plane: ControlPlane, address: string, env: Record<string, string>): Promise<void> {
  const deployed = runClusterScript(plane, 'olm-deploy');
  const patch = (object: string, spec: object): Promise<string> =>
    kubectl(plane, ['-n', NAMESPACE, 'patch', object, '--type=merge', `-p${JSON.stringify({ spec })}`]);
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
  const isPatched = vi.waitFor(async () => {
    await patch('subscription/traffic-operator', { config: { env: variables } });
    await patch('catalogsource/traffic-operator', { image: null, grpcPodConfig: null, address });
  }, WAIT);
  await Promise.all([deployed, isPatched]);
}

/** Reads a Deployment that OLM has made. */
export async function installed(plane: ControlPlane, name = 'traffic-operator'): Promise<Installed> {
  const text = await kubectl(plane, ['-n', NAMESPACE, 'get', `deployment/${name}`, '-ojson']);
  const [container] = (JSON.parse(text) as V1Deployment).spec!.template.spec!.containers;
  const { image, args, env } = container!;
  return {
    image: image!,
    args: args!.filter((arg) => !OF_THE_POD.test(arg)),
    env: Object.fromEntries(env!.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
  };
}
