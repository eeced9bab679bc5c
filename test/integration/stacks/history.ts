import { readFileSync } from 'node:fs';
import type { V1DaemonSet, V1Deployment } from '@kubernetes/client-node';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import type { TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import type { ControlPlane } from '../../harness/controlPlane.ts';

/** With these flags etcd has every version of every object since its start, as JSON. */
export const WITH_HISTORY = ['--etcd-compaction-interval=0', '--storage-media-type=application/json'];

/** One write to the cluster's store. */
export interface Change {
  /** The resourceVersion. */
  readonly revision: number;
  /** Such as `/registry/deployments/default/web`. */
  readonly key: string;
  /** Undefined if it was deleted. */
  readonly object: KubeObject | undefined;
}

interface WatchAnswer {
  result?: { events?: { type?: string; kv: { key: string; value?: string; mod_revision: string } }[] };
}

const END = '/registry/~end';

/** Every write since the start, in its order, by the JSON gateway of etcd: it also has what the API server did not log before a kill. */
export async function historyOf(plane: ControlPlane): Promise<Change[]> {
  const commandLine = readFileSync(`/proc/${plane.pids.apiServer}/cmdline`, 'utf8').split('\0');
  const url = commandLine.find((argument) => argument.startsWith('--etcd-servers='))?.slice('--etcd-servers='.length);
  const post = (path: string, body: object, signal?: AbortSignal) =>
    fetch(`${url ?? ''}${path}`, { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) });
  await post('/v3/kv/put', { key: base64(END), value: base64('') });
  const done = new AbortController();
  const range = { key: base64('/registry/'), range_end: base64('/registry0'), start_revision: '1' };
  const answer = await post('/v3/watch', { create_request: range }, done.signal);
  const changes: Change[] = [];
  for await (const line of linesOf(answer)) {
    const { result } = JSON.parse(line) as WatchAnswer;
    for (const { type, kv } of result?.events ?? []) {
      const key = text(kv.key);
      if (key === END) {
        done.abort();
        return changes;
      }
      if (!/^\/registry\/(deployments|statefulsets|daemonsets|pods|traffic\.example\.com\/trafficstacks)\//.test(key))
        continue;
      const object = type === 'DELETE' ? undefined : (JSON.parse(text(kv.value ?? '')) as KubeObject);
      changes.push({ revision: Number(kv.mod_revision), key, object });
    }
  }
  throw new Error('the history ended early');
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) throw new Error('no answer');
  let rest = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}

/** What the history shows of the stacks. */
export interface Verdict {
  /** What was out of order, one sentence each. */
  readonly violations: readonly string[];
  /** Workloads that were created, changed to another image, and removed. */
  readonly created: number;
  readonly changed: number;
  readonly removed: number;
}

/**
 * Judges the order of all that was done to workloads:
 *
 * | a workload                        | must hold at that revision                                                          |
 * |-----------------------------------|-------------------------------------------------------------------------------------|
 * | is created, or gets another image | in some spec so far that has this image, all dependencies have their image and are available |
 * | is removed, or about to be        | no workload and no pod of those that depend on it is there                          |
 */
export function judge(changes: readonly Change[]): Verdict {
  const now = new Map<string, KubeObject>();
  /** By the uid of the stack. */
  const specs = new Map<string, TrafficStack['spec'][]>();
  const violations: string[] = [];
  const counts = { created: 0, changed: 0, removed: 0 };
  for (const { revision, key, object } of changes) {
    const before = now.get(key);
    if (object === undefined) now.delete(key);
    else now.set(key, object);
    const complain = (sentence: string): void => void violations.push(`${sentence} (revision ${revision})`);
    if (isStack(key)) {
      const stack = object as TrafficStack | undefined;
      if (stack !== undefined) specs.set(uidOf(stack), [...(specs.get(uidOf(stack)) ?? []), stack.spec]);
    } else if (isWorkload(key)) {
      const known = specs.get(ownerOf(object ?? before)) ?? [];
      if (object !== undefined && imageOf(object) !== imageOf(before)) {
        counts[before === undefined ? 'created' : 'changed'] += 1;
        const problem = tooEarly(object, known, now);
        if (problem !== undefined) complain(problem);
      }
      if (before !== undefined && !isEnding(before) && (object === undefined || isEnding(object))) {
        counts.removed += 1;
        for (const user of usersOf(before, known, now)) complain(`${nameOf(before)} was removed before ${user}`);
      }
    }
  }
  return { violations, ...counts };
}

/** Why it was too early for this workload; undefined if it was not. */
function tooEarly(
  object: KubeObject,
  specs: readonly TrafficStack['spec'][],
  now: ReadonlyMap<string, KubeObject>,
): string | undefined {
  const name = nameOf(object);
  const problems = specs.map(({ components }) => {
    const own = components.find((each) => each.name === name);
    if (own?.workload?.podTemplate?.spec?.containers[0]?.image !== imageOf(object)) return `no spec has its image`;
    const open = (own?.dependsOn ?? []).filter((dependency) => {
      const wanted = components.find((each) => each.name === dependency);
      const found = [...now].find(([key, live]) => isWorkload(key) && nameOf(live) === dependency)?.[1];
      const image = wanted?.workload?.podTemplate?.spec?.containers[0]?.image;
      return found === undefined || imageOf(found) !== image || !isAvailable(found);
    });
    return open.length === 0 ? undefined : `before ${open.join(', ')} was ready`;
  });
  if (problems.includes(undefined)) return undefined;
  return `${name} with ${imageOf(object) ?? ''} was applied: ${problems.at(-1) ?? 'without a stack'}`;
}

/** What is there of the components that depend on a workload. */
function usersOf(
  object: KubeObject,
  specs: readonly TrafficStack['spec'][],
  now: ReadonlyMap<string, KubeObject>,
): string[] {
  const users = new Set(
    specs.flatMap(({ components }) =>
      components.filter(({ dependsOn }) => dependsOn?.includes(nameOf(object))).map(({ name }) => name),
    ),
  );
  return [...now].flatMap(([key, live]) => (!isStack(key) && users.has(nameOf(live)) ? [key] : []));
}

/** As for `kubectl rollout status`. */
function isAvailable(live: KubeObject): boolean {
  const { metadata, spec, status } = live as V1Deployment;
  if ((status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return false;
  const daemons = (live as V1DaemonSet).status;
  if (live.kind === 'DaemonSet') {
    const { desiredNumberScheduled, updatedNumberScheduled, numberAvailable } = daemons ?? {};
    return desiredNumberScheduled === updatedNumberScheduled && desiredNumberScheduled === numberAvailable;
  }
  const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
  return counts.every((count) => count === (spec?.replicas ?? 1));
}

const isStack = (key: string): boolean => key.includes('/trafficstacks/');
const isWorkload = (key: string): boolean => /^\/registry\/(deployments|statefulsets|daemonsets)\//.test(key);
const uidOf = ({ metadata }: KubeObject): string => metadata?.uid ?? '';
const ownerOf = (object: KubeObject | undefined): string => object?.metadata?.ownerReferences?.[0]?.uid ?? '';
const nameOf = ({ metadata }: KubeObject): string => metadata?.labels?.[COMPONENT_LABEL] ?? '';
const isEnding = ({ metadata }: KubeObject): boolean => metadata?.deletionTimestamp !== undefined;

function imageOf(object: KubeObject | undefined): string | undefined {
  const { spec }: V1Deployment = { ...object };
  return spec?.template.spec?.containers[0]?.image;
}

/** The keys of all objects of stacks that are there at the end. */
export function leftIn(changes: readonly Change[]): string[] {
  const now = new Map(changes.map(({ key, object }) => [key, object]));
  return [...now].flatMap(([key, object]) =>
    object !== undefined && (isStack(key) || object.metadata?.labels?.[STACK_LABEL] !== undefined) ? [key] : [],
  );
}

function base64(value: string): string {
  return Buffer.from(value).toString('base64');
}

function text(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString();
}
