import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { agentDaemonSets } from '../../../src/connectivity/objects/agents.ts';
import { defaultConnectivityOptions } from '../../../src/connectivity/objects/names.ts';
import { freePorts, start, whenReady } from '../../harness/process.ts';
import type { SimulatedAgent } from './reportBody.ts';
import { BUNDLE, type MeasuredProcess } from './serverProcess.ts';

const DOCKERFILE = fileURLToPath(new URL('../../../Dockerfile', import.meta.url));

/** The variables that the image and then the DaemonSet set, such as NODE_OPTIONS, as NAME=value. */
function deployedEnvironment(): string[] {
  const image = [...readFileSync(DOCKERFILE, 'utf8').matchAll(/^ENV (\w+=\S+)$/gm)].map(
    ([, variable = '']) => variable,
  );
  const [daemonSet] = agentDaemonSets(defaultConnectivityOptions('default'));
  const { env = [] } = daemonSet?.spec?.template.spec?.containers[0] ?? {};
  return [...image, ...env.flatMap(({ name, value }) => (value === undefined ? [] : [`${name}=${value}`]))];
}

/** The measuring machine has this variable; a pod does not. Node.js parses the certificates at the first connection: Debian's take 0.8 MiB. */
const NOT_DEPLOYED = ['-u', 'NODE_EXTRA_CA_CERTS'];

/** Starts an agent of the bundle with the environment of the deployed one, and waits until it answers peers. */
export async function startAgent(
  { pod, node, plane }: Pick<SimulatedAgent, 'pod' | 'node' | 'plane'>,
  o: { serverPort: number; intervalSeconds: number; plane: Pick<ControlPlane, 'url' | 'directory'> },
): Promise<MeasuredProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-bench-agent-'));
  const [port] = (await freePorts(1)) as [number];
  const api = new URL(o.plane.url);
  const running = start(
    'env',
    [
      ...NOT_DEPLOYED,
      ...deployedEnvironment(),
      `MY_POD_NAME=${pod}`,
      `MY_NODE_NAME=${node}`,
      `KUBERNETES_SERVICE_HOST=${api.hostname}`,
      `KUBERNETES_SERVICE_PORT=${api.port}`,
      ...[process.execPath, BUNDLE, 'connectivity-agent'],
      `-serverendpoint=127.0.0.1:${o.serverPort}`,
      `-reportinterval=${o.intervalSeconds}`,
      `--peer-port=${port}`,
      `--plane=${plane}`,
      `--api-ca-file=${join(o.plane.directory, 'ca.crt')}`,
    ],
    join(directory, 'log'),
  );
  await whenReady('connectivity-agent', running, async () => (await fetch(`http://127.0.0.1:${port}/ping`)).ok);
  const stop = async (): Promise<void> => {
    await running.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { pid: running.pid, port, stop };
}
