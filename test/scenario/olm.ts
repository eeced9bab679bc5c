import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { V1Node } from '@kubernetes/client-node';
import { binary } from '../lab/binaries.ts';
import { inNode, kubeconfigPath, loadImage } from '../lab/lab.ts';
import { getObject } from './kubectl.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CTR_IMAGES = ['/run/lab/bin/ctr', '-n', 'k8s.io', 'images'];
const run = promisify(execFile);

/** Runs a target of the Makefile with the lab's cluster, and returns its output. @throws with its messages if it fails */
export async function make(target: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = { ...process.env, KUBECTL: await binary('kubectl'), KUBECONFIG: kubeconfigPath(), ...variables };
  const assignments = Object.entries(variables).map((pair) => pair.join('='));
  return (await run('make', ['--no-print-directory', '-C', ROOT, target, ...assignments], { env })).stdout;
}

/** Makes what a release of OLM has, unless it is there, and returns the folder with it: see test/lab/olm.sh. */
export async function olmRelease(): Promise<string> {
  return (await run(`${ROOT}test/lab/olm.sh`)).stdout.trim();
}

/** An image that all nodes have, by the names that the nodes know. */
const local = (name: string): string => `docker.io/library/${name}`;

/**
 * Writes the catalog of these bundles with `make catalog`, and builds its image as a user does with the Dockerfile. Not at the same time as
 * another build.
 *
 * @returns the archive of the image
 */
export async function buildCatalog(tag: string, bundles: readonly string[], directory: string): Promise<string> {
  await make('catalog', { BUNDLES: bundles.join(' ') });
  const archive = join(directory, `catalog-${tag}.tar`);
  await run(`${ROOT}test/image/catalog.sh`, [local(`traffic-operator-catalog:${tag}`), archive]);
  return archive;
}

/**
 * Puts the image of a catalog on every node. OLM lets the kubelet pull an image, even one that the node has, unless its name has a digest.
 *
 * @returns that name
 */
export async function provideCatalog(tag: string, archive: string): Promise<string> {
  await loadImage(archive);
  const [first] = await nodeNames();
  const listed = await inNode(first!, [...CTR_IMAGES, 'ls', `name==${local(`traffic-operator-catalog:${tag}`)}`]);
  const digest = /sha256:[0-9a-f]{64}/.exec(listed)?.[0];
  if (digest === undefined) throw new Error(`${first} does not have the catalog ${tag}: ${listed}`);
  const name = `traffic-operator-catalog@${digest}`;
  await tagImage(`traffic-operator-catalog:${tag}`, name);
  return name;
}

/** Gives an image of the nodes a second name. */
export async function tagImage(name: string, other: string): Promise<void> {
  for (const node of await nodeNames()) {
    await inNode(node, [...CTR_IMAGES, 'tag', '--force', local(name), local(other)]);
  }
}

async function nodeNames(): Promise<string[]> {
  return (await getObject<{ items: V1Node[] }>('nodes')).items.map(({ metadata }) => metadata!.name!);
}
