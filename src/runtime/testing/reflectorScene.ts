import type { V1Node } from '@kubernetes/client-node';
import { expect, vi } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { createInformer } from '../cache/informer.ts';
import type { Informer, InformerEvent, InformerOptions, ReflectorMetrics } from '../cache/informer.ts';
import { createLogger } from '../process/logger.ts';
import { NODES } from '../client/resources.ts';
import type { Transport } from '../client/transport.ts';
import { NodeCollection } from './collection.ts';
import type { LocalServer, Reply, SeenRequest } from './localServer.ts';
import type { Scene } from './scene.ts';

/** An informer of nodes, the server it watches, and what it told. */
export interface ReflectorCast {
  nodes: NodeCollection;
  server: LocalServer;
  transport: Transport;
  informer: Informer<V1Node>;
  /** Its pauses pass only when the test says so; the network is real. */
  clock: FakeClock;
  /** 'add a', 'update a', 'delete a' */
  told: string[];
  metrics: { [name in keyof ReflectorMetrics]: ReturnType<typeof vi.fn> };
  /** The lists and watches there were: 'watch-list', 'watch from 12', 'list', 'page 500', 'whole list'. */
  asked(): string[];
  stop(): Promise<void>;
}

export type CastOptions = Partial<InformerOptions<V1Node>> & {
  /** Called before anything is asked. */
  prepare?: (nodes: NodeCollection) => void;
  /** Default: createInformer. */
  create?: typeof createInformer<V1Node>;
  /** The transport's deadlines and probes pass with the test's clock too; it sends no PINGs. */
  wholeClock?: boolean;
};

/**
 * PINGs are sent by the platform's clock and their answers looked for by the test's: within a pause of 15 s by the
 * test's there is none, and the connection would be taken for dead under the call that follows.
 */
const NEVER_MS = 2 ** 31 - 1;

/** Starts it; nothing is awaited. */
export async function castReflector(scene: Scene, options: CastOptions = {}): Promise<ReflectorCast> {
  const { prepare, wholeClock, create = createInformer<V1Node>, ...informerOptions } = options;
  const nodes = new NodeCollection();
  prepare?.(nodes);
  const server = await scene.serve(nodes.handler);
  const clock = new FakeClock();
  const transport = scene.transportTo(server, wholeClock === true ? { clock, pingIntervalMs: NEVER_MS } : {});
  const metrics = {
    listed: vi.fn(),
    watchStarted: vi.fn(),
    watchEnded: vi.fn(),
    badLine: vi.fn(),
    listenerFailed: vi.fn(),
    bodyDropped: vi.fn(),
    bodyMemory: vi.fn(),
    objects: vi.fn(),
  };
  const logger = createLogger('silent');
  const informer = create({ transport, resource: NODES, logger, metrics, clock, ...informerOptions });
  const told: string[] = [];
  informer.subscribe((event: InformerEvent<V1Node>) => told.push(`${event.type} ${event.object.metadata?.name ?? ''}`));
  const end = new AbortController();
  const running = informer.run(end.signal);
  const stop = (): Promise<void> => {
    end.abort();
    return running;
  };
  scene.cleanUps.push(stop);
  const asked = (): string[] => server.requests.filter(({ path }) => path === '/api/v1/nodes').map(kindOf);
  return { nodes, server, transport, informer, clock, told, metrics, asked, stop };
}

function kindOf({ query }: SeenRequest): string {
  if (query.has('sendInitialEvents')) return 'watch-list';
  if (query.has('watch')) return `watch from ${query.get('resourceVersion') ?? ''}`;
  if (!query.has('limit')) return 'whole list';
  return query.has('continue') ? `page ${query.get('continue') ?? ''}` : 'list';
}

/** Starts it with two nodes, a and b, and waits until they are listed and watched. */
export async function castWatching(scene: Scene, options: CastOptions = {}): Promise<ReflectorCast> {
  const cast = await castReflector(scene, {
    ...options,
    prepare(nodes) {
      nodes.set('a');
      nodes.set('b');
      options.prepare?.(nodes);
    },
  });
  await cast.informer.whenSynced();
  await vi.waitFor(() => expect(cast.nodes.openWatches).toBe(1));
  return cast;
}

/**
 * Moves the clock on by small steps until something is so.
 *
 * @param stepMs asked before each step where it depends on what goes on: with `wholeClock` large steps may use up the
 * deadline of a call before the network, late on a busy machine, has its answer
 */
export async function until(
  cast: ReflectorCast,
  condition: () => void,
  stepMs: number | (() => number) = 500,
): Promise<void> {
  const step = async (): Promise<void> => {
    await cast.clock.advance(typeof stepMs === 'number' ? stepMs : stepMs());
    condition();
  };
  await vi.waitFor(step, { interval: 5, timeout: 20_000 });
}

/** Refuses a request with a Status. */
export function refusing(status: number, headers?: Record<string, string>): (reply: Reply) => void {
  return (reply) => reply.json(status, { kind: 'Status', code: status, reason: 'Because', message: 'no' }, headers);
}
