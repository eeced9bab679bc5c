import type { V1Node } from '@kubernetes/client-node';
import type { Handler, Reply, SeenRequest } from './localServer.ts';

/** The behaviour that a test can set. */
interface Behaviour {
  /** Answers watch-lists with this status instead. */
  refuseWatchList?: number;
  /** Knows nothing of sendInitialEvents, as before Kubernetes 1.27: initial events, but no end of them. */
  ignoreWatchList?: boolean;
  pageSize?: number;
  /** Runs instead of the answer to the next request, and the ones after, other than probes. */
  next: ((reply: Reply, request: SeenRequest) => void)[];
}

interface Change {
  version: number;
  type: string;
  node: V1Node;
}

interface OpenWatch {
  write(text: string): void;
  end(text?: string): void;
}

/** The nodes of an API server that keeps to the watch protocol, small enough to see through. */
export class NodeCollection {
  readonly behaviour: Behaviour = { next: [] };
  /** Versions at and before this one are forgotten. */
  compacted = 0;
  #version = 10;
  readonly #nodes = new Map<string, V1Node>();
  readonly #history: Change[] = [];
  readonly #watches = new Set<OpenWatch>();

  get names(): string[] {
    return [...this.#nodes.keys()];
  }

  /** The resource version of each node, by name. */
  get versions(): Record<string, string | undefined> {
    return Object.fromEntries([...this.#nodes].map(([name, { metadata }]) => [name, metadata?.resourceVersion]));
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Puts a node, with a new version. */
  set(name: string, labels: Record<string, string> = {}): void {
    const type = this.#nodes.has(name) ? 'MODIFIED' : 'ADDED';
    this.#version += 1;
    const metadata = { name, uid: `uid-${name}`, labels, resourceVersion: String(this.#version) };
    this.#nodes.set(name, { metadata, spec: { podCIDR: '10.0.0.0/24' } });
    this.#tell(type, name);
  }

  delete(name: string): void {
    this.#version += 1;
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    const deleted = { ...node, metadata: { ...node.metadata, resourceVersion: String(this.#version) } };
    this.#nodes.delete(name);
    this.#send({ version: this.#version, type: 'DELETED', node: deleted });
  }

  /** Forgets all versions so far, as etcd's compaction does. */
  compact(): void {
    this.compacted = this.#version;
  }

  bookmark(): void {
    this.#version += 1;
    this.writeToAll(`${JSON.stringify(bookmark(this.#version, false))}\n`);
  }

  /** Writes something of the test's own on every open watch. */
  writeToAll(text: string): void {
    for (const watch of this.#watches) watch.write(text);
  }

  /** Ends every open watch, properly. */
  endAll(text?: string): void {
    for (const watch of this.#watches) watch.end(text);
    this.#watches.clear();
  }

  readonly handler: Handler = (request, reply) => {
    const instead = request.path === '/version' ? undefined : this.behaviour.next.shift();
    if (instead !== undefined) instead(reply, request);
    else this.answer(request, reply);
  };

  /** The proper answer. */
  answer(request: SeenRequest, reply: Reply): void {
    if (request.path === '/version') reply.json(200, {});
    else if (request.query.get('watch') !== 'true') this.#list(request, reply);
    else if (request.query.has('sendInitialEvents')) this.#watchList(reply);
    else this.#watch(request, reply);
  }

  #tell(type: string, name: string): void {
    this.#send({ version: this.#version, type, node: this.#nodes.get(name)! });
  }

  #send(change: Change): void {
    this.#history.push(change);
    this.writeToAll(lineOf(change));
  }

  #list(request: SeenRequest, reply: Reply): void {
    const pageSize = this.behaviour.pageSize ?? Number(request.query.get('limit') ?? Infinity);
    const from = Number(request.query.get('continue') ?? 0);
    const all = [...this.#nodes.values()];
    const end = request.query.has('limit') ? from + pageSize : Infinity;
    const next = end < all.length ? String(end) : undefined;
    const metadata = { resourceVersion: String(this.#version), continue: next };
    reply.json(200, { kind: 'NodeList', apiVersion: 'v1', metadata, items: all.slice(from, end) });
  }

  #watchList(reply: Reply): void {
    const { refuseWatchList, ignoreWatchList } = this.behaviour;
    if (refuseWatchList !== undefined) {
      reply.json(refuseWatchList, { kind: 'Status', reason: 'Invalid', message: 'sendInitialEvents is forbidden' });
      return;
    }
    const watch = reply.open();
    for (const node of this.#nodes.values()) watch.write(lineOf({ version: 0, type: 'ADDED', node }));
    if (ignoreWatchList !== true) watch.write(`${JSON.stringify(bookmark(this.#version, true))}\n`);
    this.#watches.add(watch);
  }

  #watch(request: SeenRequest, reply: Reply): void {
    const from = Number(request.query.get('resourceVersion'));
    if (from < this.compacted) {
      reply.json(410, { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' });
      return;
    }
    const watch = reply.open();
    for (const change of this.#history) if (change.version > from) watch.write(lineOf(change));
    this.#watches.add(watch);
  }
}

/** An ERROR event with a Status. */
export function errorLine(code: number, reason: string): string {
  return `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code, reason, message: 'because' } })}\n`;
}

function lineOf({ type, node }: Change): string {
  return `${JSON.stringify({ type, object: { kind: 'Node', apiVersion: 'v1', ...node } })}\n`;
}

function bookmark(version: number, end: boolean): unknown {
  const annotations = end ? { 'k8s.io/initial-events-end': 'true' } : undefined;
  const metadata = { resourceVersion: String(version), annotations };
  return { type: 'BOOKMARK', object: { kind: 'Node', apiVersion: 'v1', metadata } };
}
