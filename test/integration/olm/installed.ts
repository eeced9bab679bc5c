import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { V1Deployment } from '@kubernetes/client-node';
import { parseAllDocuments, stringify } from 'yaml';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { kubectl } from '../../harness/kubectl.ts';

export const NAMESPACE = 'traffic-operator-system';
const OLM = fileURLToPath(new URL('../../../deploy/olm/', import.meta.url));

/** Flags whose values are those of a pod: tests give others. */
const OF_THE_POD = /^(manager|--(health-probe|metrics)-bind-address=.*)$/;

/** The operator as OLM has installed it. */
export interface Installed {
  image: string;
  /** The arguments that do not depend on a pod. */
  args: string[];
  /** The variables with a value. */
  env: Record<string, string>;
}

/** Applies deploy/olm, with the address of a catalog in place of its image, and with variables for the operator. */
export async function applyOlm(plane: ControlPlane, address: string, env: Record<string, string>): Promise<void> {
  const objects = ['namespace.yaml', 'subscription.yaml', 'policies.yaml'].flatMap((file) =>
    parseAllDocuments(readFileSync(OLM + file, 'utf8')).map(
      (document) => document.toJS() as { kind: string; spec: object },
    ),
  );
  const changed = objects.map((object) => {
    if (object.kind === 'CatalogSource') return { ...object, spec: { sourceType: 'grpc', address } };
    const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
    return object.kind === 'Subscription'
      ? { ...object, spec: { ...object.spec, config: { env: variables } } }
      : object;
  });
  await kubectl(plane, ['apply', '--server-side', '-f-'], changed.map((object) => stringify(object)).join('---\n'));
}

/** Reads the Deployment that OLM has made. */
export async function installed(plane: ControlPlane): Promise<Installed> {
  const text = await kubectl(plane, ['-n', NAMESPACE, 'get', 'deployment/traffic-operator', '-ojson']);
  const [container] = (JSON.parse(text) as V1Deployment).spec!.template.spec!.containers;
  const { image, args, env } = container!;
  return {
    image: image!,
    args: args!.filter((arg) => !OF_THE_POD.test(arg)),
    env: Object.fromEntries(env!.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
  };
}
