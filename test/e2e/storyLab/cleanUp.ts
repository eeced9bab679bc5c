import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { removeNode, shape } from '../../lab/lab.ts';
import { kindOf, readObjects, removeFinalizers, removeObject } from '../../scenario/api.ts';
import { kubectl } from '../../scenario/kubectl.ts';
import { allNodes, inventory, keyOf, type Baseline, type Found } from './inventory.ts';

/**
 * The clean-up after a story is level-based: each step compares the cluster with the baseline and removes the
 * difference. It relies neither on helm nor on the operator, which may hang or be half installed.
 */
const DOMAIN = 'traffic.example.com';
/** Groups of objects with finalizers, whose operators a story may have removed before: this operator's, and OLM's. */
const HAVE_FINALIZERS = [DOMAIN, 'operators.coreos.com'];
/** Seconds that a pod has to end; a container that hangs is killed after that. */
const GRACE = 1;

export async function unshapeNodes({ nodes }: Baseline): Promise<void> {
  for (const node of nodes) await shape(node, 'off');
}

/** Events outlive their objects, and the next story may have an object of the same name. */
export async function forgetEvents(): Promise<void> {
  await kubectl('delete', 'events', '--all', '--namespace=default');
}

/**
 * Removes what the baseline does not have.
 *
 * @returns true if there was nothing to remove
 * @throws with what was there, so that a clean-up that does not end says why
 */
export async function stepToBaseline(baseline: Baseline): Promise<true> {
  await removeServedApis();
  const known = new Set(baseline.objects);
  const added = (await inventory()).filter(({ object }) => !known.has(keyOf(object)));
  try {
    await remove(added);
  } finally {
    // Each may need the other: a webhook may refuse to delete a node, and pods of a dead node do not end.
    await removeAddedNodes(baseline);
  }
  if (added.length > 0)
    throw new Error(`not in a clean cluster: ${added.map(({ object }) => keyOf(object)).join(', ')}`);
  // Only now: an operator that still ran would write its labels again.
  const nodes = await allNodes();
  const changed = nodes.filter((node) => ownKeys(node.metadata?.labels, node.metadata?.annotations).length > 0);
  for (const node of changed) await resetNode(node);
  if (changed.length > 0) throw new Error(`labels or annotations on ${names(changed)}`);
  const usable = nodes.filter(isUsable);
  if (names(usable) !== baseline.nodes.join()) throw new Error(`only ${names(usable)} are Ready and without taints`);
  return true;
}

/**
 * APIs that a Service answers for; a clean cluster has none. While its pods are gone, kinds cannot be listed, and no namespace ends.
 */
async function removeServedApis(): Promise<void> {
  const kind = await kindOf('apiservices');
  const served = await readObjects(kind, { labelSelector: '!kube-aggregator.kubernetes.io/automanaged' });
  await Promise.all(served.map((api) => removeObject(kind, api, 0)));
}

const names = (nodes: readonly V1Node[]): string => nodes.map(({ metadata }) => metadata!.name).join();

const isUsable = ({ spec, status }: V1Node): boolean =>
  (spec?.taints ?? []).length === 0 &&
  (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

async function removeAddedNodes({ nodes }: Baseline): Promise<void> {
  for (const { metadata } of await allNodes()) {
    const name = metadata!.name!;
    if (nodes.includes(name)) continue;
    // A removal that was cut off has left the object alone.
    await removeNode(name).catch(() => kubectl('delete', 'node', name, '--ignore-not-found'));
    // Nothing on that node confirms the end of its pods.
    await kubectl('delete', 'pods', '-A', `--field-selector=spec.nodeName=${name}`, '--force', '--grace-period=0');
  }
}

/** Namespaces last, when their pods are gone: a namespace that has pods is looked at again only after 16 s. */
async function remove(added: readonly Found[]): Promise<void> {
  const pods = added.filter(({ object }) => object.kind === 'Pod').map(({ object }) => object as V1Pod);
  const hasPods = new Set(pods.map(({ metadata }) => metadata?.namespace));
  const removable = added.filter(
    ({ kind, object }) => kind.name !== 'namespaces' || !hasPods.has(object.metadata?.name),
  );
  await Promise.all(removable.map(({ kind, object }) => removeObject(kind, object, GRACE)));
  await removeLostPods(pods);
  const held = added.filter(({ kind, object }) => {
    return HAVE_FINALIZERS.includes(kind.apiVersion.split('/')[0]!) && (object.metadata?.finalizers ?? []).length > 0;
  });
  await Promise.all(held.map(({ kind, object }) => removeFinalizers(kind, object)));
}

/** Pods on nodes that a story has removed: nobody else confirms their end, until garbage is collected a minute later. */
async function removeLostPods(pods: readonly V1Pod[]): Promise<void> {
  const nodes = new Set((await allNodes()).map(({ metadata }) => metadata?.name));
  const lost = pods.filter(({ spec }) => spec?.nodeName !== undefined && !nodes.has(spec.nodeName));
  const kind = await kindOf('pods');
  await Promise.all(lost.map((pod) => removeObject(kind, pod, 0)));
}

const ownKeys = (...maps: (Record<string, string> | undefined)[]): string[] =>
  maps.flatMap((map) => Object.keys(map ?? {})).filter((key) => key.split('/')[0]!.endsWith(DOMAIN));

async function resetNode({ metadata }: V1Node): Promise<void> {
  const [labels, annotations] = [ownKeys(metadata?.labels), ownKeys(metadata?.annotations)];
  const removal = (key: string): string => `${key}-`;
  if (labels.length > 0) await kubectl('label', 'node', metadata!.name!, ...labels.map(removal));
  if (annotations.length > 0) await kubectl('annotate', 'node', metadata!.name!, ...annotations.map(removal));
}
