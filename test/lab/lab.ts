import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export { binDir, binary } from './binaries.ts';

const run = promisify(execFile);

function stateDirectory(): string {
  return process.env.TRAFFIC_LAB_DIR ?? '/var/lib/traffic-lab';
}

function script(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Runs a script with this process's output. Throws if it fails; the script has printed the reason. */
async function show(name: string, ...args: string[]): Promise<void> {
  const child = spawn(script(name), args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`test/lab/${name} failed: exit code ${code ?? String(signal)}`);
}

/** Starts the lab after building what it needs. First takes down a running lab or its remains. */
export function labUp(options: { nodes?: number } = {}): Promise<void> {
  return show('up.sh', String(options.nodes ?? 3));
}

/** Takes the lab down completely. Does nothing if there is none. */
export function labDown(): Promise<void> {
  return show('down.sh');
}

/** Path of the kubeconfig of a cluster administrator. The file exists while the lab is up. */
export function kubeconfigPath(): string {
  return `${stateDirectory()}/kubeconfig`;
}

/** Path of the API server's audit log: one JSON object per line, level Metadata, written when requests end. */
export function auditLogPath(): string {
  return `${stateDirectory()}/log/audit.log`;
}

/** Adds a node, waits until it is Ready and returns its name. */
export async function addNode(): Promise<string> {
  return (await run(script('add-node.sh'))).stdout.trim();
}

/** Removes a node as if it were powered off, and deletes its Node object. */
export async function removeNode(name: string): Promise<void> {
  await run(script('remove-node.sh'), [name]);
}

/** Stops a node as if it were powered off; its Node object stays. */
export async function stopNode(name: string): Promise<void> {
  await run(script('stop-node.sh'), [name]);
}

/** Restarts the kubelet of a node and waits until it is healthy; containers keep running. */
export async function restartKubelet(node: string): Promise<void> {
  await run(script('restart-kubelet.sh'), [node]);
}

/** Runs a command in the namespaces of a node and returns its output. Throws if it fails. */
export async function inNode(name: string, command: readonly string[]): Promise<string> {
  return (await run(script('in-node.sh'), [name, ...command])).stdout;
}

/** Limits the transmit rate of a node, for example to '100mbit' (tc(8)); 'off' removes the limit. */
export async function shape(node: string, rate: string): Promise<void> {
  await run(script('shape.sh'), [node, rate]);
}

/** Imports an image archive (docker or OCI) into every node, including nodes added later. */
export async function loadImage(archive: string): Promise<void> {
  await run(script('load-image.sh'), [archive]);
}
