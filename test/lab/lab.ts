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

/** Runs a script with its output on this process's own. Throws when it fails; the script has said why. */
async function show(name: string, ...args: string[]): Promise<void> {
  const child = spawn(script(name), args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`test/lab/${name} failed: exit code ${code ?? String(signal)}`);
}

/** Starts the lab, after building what it needs. Takes down a lab that runs or what is left of one. */
export function labUp(options: { nodes?: number } = {}): Promise<void> {
  return show('up.sh', String(options.nodes ?? 3));
}

/** Takes the lab down; nothing is left of it. Does nothing where there is none. */
export function labDown(): Promise<void> {
  return show('down.sh');
}

/** Path of a kubeconfig of a cluster administrator; the file is there while the lab is up. */
export function kubeconfigPath(): string {
  return `${stateDirectory()}/kubeconfig`;
}

/** Path of the API server's audit log: a JSON object a line, Metadata level, written as requests end. */
export function auditLogPath(): string {
  return `${stateDirectory()}/log/audit.log`;
}

/** Adds a node, waits until it is Ready and returns its name. */
export async function addNode(): Promise<string> {
  return (await run(script('add-node.sh'))).stdout.trim();
}

/** Ends a node as if its machine were switched off, and deletes its Node object. */
export async function removeNode(name: string): Promise<void> {
  await run(script('remove-node.sh'), [name]);
}

/** Ends a node as if its machine were switched off; its Node object stays. */
export async function stopNode(name: string): Promise<void> {
  await run(script('stop-node.sh'), [name]);
}

/** Restarts a node's kubelet and waits until it is healthy; the node's containers go on running. */
export async function restartKubelet(node: string): Promise<void> {
  await run(script('restart-kubelet.sh'), [node]);
}

/** Runs a command in a node's namespaces and returns what it printed. Throws when it fails. */
export async function inNode(name: string, command: readonly string[]): Promise<string> {
  return (await run(script('in-node.sh'), [name, ...command])).stdout;
}

/** Limits what a node sends, e.g. to '100mbit' (tc(8) rates); 'off' takes the limit away. */
export async function shape(node: string, rate: string): Promise<void> {
  await run(script('shape.sh'), [node, rate]);
}

/** Imports an image archive (docker or OCI) into every node, those added later included. */
export async function loadImage(archive: string): Promise<void> {
  await run(script('load-image.sh'), [archive]);
}
