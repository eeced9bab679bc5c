import { readFileSync } from 'node:fs';
import { TRAFFIC_STACKS } from '../../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../../src/controllers/trafficstack/names.ts';
import type { KubeObject } from '../../../../src/runtime/client/resource.ts';
import type { ControlPlane } from '../../../harness/controlPlane.ts';

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

interface RangeAnswer {
  kvs?: { key: string; value?: string }[];
}

const END = '/registry/~end';
const ALL = { key: base64('/registry/'), range_end: base64('/registry0') };
/** The keys that are judged: stacks, all their objects, and the pods and claims of these objects. */
const JUDGED = new RegExp(
  `^/registry/(${[
    ...['deployments', 'statefulsets', 'daemonsets', 'pods', 'services/specs', 'configmaps', 'persistentvolumeclaims'],
    ...['poddisruptionbudgets', 'controllerrevisions', 'traffic\\.example\\.com/trafficstacks'],
  ].join('|')})/`,
);

/** Every write since the start, in its order, by the JSON gateway of etcd: it also has what the API server did not log before a kill. */
export async function historyOf(plane: ControlPlane): Promise<Change[]> {
  const etcd = new Etcd(plane);
  await etcd.post('/v3/kv/put', { key: base64(END), value: base64('') });
  const done = new AbortController();
  const answer = await etcd.post('/v3/watch', { create_request: { ...ALL, start_revision: '1' } }, done.signal);
  const changes: Change[] = [];
  for await (const line of linesOf(answer)) {
    const { result } = JSON.parse(line) as WatchAnswer;
    for (const { type, kv } of result?.events ?? []) {
      const key = text(kv.key);
      if (key === END) {
        done.abort();
        return changes;
      }
      if (!JUDGED.test(key)) continue;
      const object = type === 'DELETE' ? undefined : (JSON.parse(text(kv.value ?? '')) as KubeObject);
      changes.push({ revision: Number(kv.mod_revision), key, object });
    }
  }
  throw new Error('the history ended early');
}

/** The keys of all objects, of any kind, that are of a stack or have a label or a finalizer of one. */
export async function leftIn(plane: ControlPlane): Promise<string[]> {
  const answer = (await (await new Etcd(plane).post('/v3/kv/range', ALL)).json()) as RangeAnswer;
  return (answer.kvs ?? []).flatMap(({ key, value = '' }) => {
    const stored = text(value);
    return stored.startsWith('{') && isOfSomeStack(JSON.parse(stored) as KubeObject) ? [text(key)] : [];
  });
}

function isOfSomeStack({ kind, metadata }: KubeObject): boolean {
  const { labels = {}, ownerReferences = [], finalizers = [] } = metadata ?? {};
  const { kind: stack, group } = TRAFFIC_STACKS;
  return (
    kind === stack ||
    [STACK_LABEL, COMPONENT_LABEL].some((label) => labels[label] !== undefined) ||
    ownerReferences.some((owner) => owner.kind === stack) ||
    finalizers.some((finalizer) => finalizer.startsWith(`${group}/`))
  );
}

/** The JSON gateway of the etcd of a control plane. */
class Etcd {
  readonly #url: string;

  constructor({ pids }: ControlPlane) {
    const commandLine = readFileSync(`/proc/${pids.apiServer}/cmdline`, 'utf8').split('\0');
    this.#url = commandLine.find((each) => each.startsWith('--etcd-servers='))?.slice('--etcd-servers='.length) ?? '';
  }

  post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.#url}${path}`, { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) });
  }
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

function base64(value: string): string {
  return Buffer.from(value).toString('base64');
}

function text(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString();
}
