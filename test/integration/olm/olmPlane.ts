import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { established } from '../../harness/customResource.ts';
import { freePorts, start, type RunningProcess } from '../../harness/process.ts';
import { binary } from '../../lab/binaries.ts';
import { kubectl } from '../../harness/kubectl.ts';

/** The two operators of OLM on a control plane, and a server of a file-based catalog. */
export interface OlmPlane {
  /** Address of the catalog, for a CatalogSource. */
  readonly address: string;
  /** Serves another catalog at the same address. */
  serve(catalog: string): Promise<void>;
  stop(): Promise<void>;
}

const CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'namespace-controller',
  'garbage-collector-controller',
];
const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'olm' } };

/** Installs the CRDs of OLM, and starts OLM and the controllers of Kubernetes that it relies on. */
export async function startOlm(plane: ControlPlane): Promise<OlmPlane> {
  const { kubeconfig } = plane;
  const crds = execFileSync(await binary('operator-framework'), ['crds'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  await kubectl(plane, ['apply', '--server-side', '-f-'], crds);
  await established((args) => kubectl(plane, args), ['crd', '--all']);
  await kubectl(plane, ['create', '-f-'], JSON.stringify(NAMESPACE));
  const directory = await mkdtemp(join(tmpdir(), 'olm-'));
  const [port, managerPort] = (await freePorts(2)) as [number, number];
  const run = async (program: string, args: readonly string[]): Promise<RunningProcess> =>
    start(await binary(program), args, `${directory}/${program}.log`, { KUBECONFIG: kubeconfig });
  const running = await Promise.all([
    run('kube-controller-manager', [
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      `--controllers=${CONTROLLERS.join(',')}`,
      `--secure-port=${managerPort}`,
      `--cert-dir=${directory}/controllers`,
    ]),
    run('olm', ['--namespace=olm', '--writeStatusName=', '--writePackageServerStatusName=']),
    run('catalog', ['--namespace=olm', '--writeStatusName=', '--interval=1m']),
  ]);
  let server: RunningProcess | undefined;
  return {
    address: `127.0.0.1:${port}`,
    serve: async (catalog) => {
      await server?.stop();
      const files = [`--termination-log=${directory}/termination.log`, '--pprof-addr='];
      server = await run('opm', ['serve', catalog, `--port=${port}`, ...files]);
    },
    stop: async () => {
      await Promise.all([...running, ...(server ? [server] : [])].map((each) => each.stop()));
      await rm(directory, { recursive: true });
    },
  };
}
