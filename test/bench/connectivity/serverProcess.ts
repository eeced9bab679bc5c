import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultConnectivityOptions } from '../../../src/connectivity/objects/names.ts';
import { heapOption } from '../../harness/chartHeap.ts';
import { imageEnvironment } from '../../harness/imageEnvironment.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { freePorts, start, whenReady } from '../../harness/process.ts';

/** dist/main.js, which `npm run build` makes. */
export const BUNDLE = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** A process of the bundle, as in the image. */
export interface MeasuredProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts the connectivity server with the settings of its image and Deployment, and waits until it answers. */
export async function startServer(kubeconfig: string, args: readonly string[]): Promise<MeasuredProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-bench-connectivity-'));
  const [port] = (await freePorts(1)) as [number];
  const flags = [`-kubeconfig=${kubeconfig}`, `-endpoint=127.0.0.1:${port}`, ...args];
  const { limits } = defaultConnectivityOptions('default').server.resources;
  Object.assign(process.env, imageEnvironment());
  // The process has the environment of the moment when it starts.
  const running = await withNodeOptions(heapOption(limits?.memory ?? ''), () =>
    Promise.resolve(start(process.execPath, [BUNDLE, 'connectivity-server', ...flags], join(directory, 'log'))),
  );
  await whenReady('connectivity-server', running, async () => {
    return (await fetch(`http://127.0.0.1:${port}/api/v1/ping`)).ok;
  });
  const stop = async (): Promise<void> => {
    await running.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { pid: running.pid, port, stop };
}
