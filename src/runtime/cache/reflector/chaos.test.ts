import fc from 'fast-check';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { errorLine } from '../../testing/collection.ts';
import { sampleRuns } from '../../testing/sampleSize.ts';
import { castWatching, refusing, until } from '../../testing/reflectorScene.ts';
import type { ReflectorCast } from '../../testing/reflectorScene.ts';
import { createScene } from '../../testing/scene.ts';
import type { Scene } from '../../testing/scene.ts';

const TIMEOUT_MS = 120_000;

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

/** Events of a watch, from harmless to severe. */
const EVENTS: Record<string, (cast: ReflectorCast, name: string) => void> = {
  set: ({ nodes }, name) => nodes.set(name),
  delete: ({ nodes }, name) => nodes.names.includes(name) && nodes.delete(name),
  bookmark: ({ nodes }) => nodes.bookmark(),
  end: ({ nodes }) => nodes.endAll(),
  compact: ({ nodes }) => nodes.compact(),
  badLine: ({ nodes }) => nodes.writeToAll('{"type":\n'),
  errorEvent: ({ nodes }) => nodes.endAll(errorLine(500, 'InternalError')),
  cut: ({ nodes, server }) => {
    server.cut();
    nodes.endAll();
  },
  refuse: ({ nodes }) => nodes.behaviour.next.push(refusing(503), refusing(429)),
  hang: ({ nodes }) => nodes.behaviour.next.push(() => undefined),
  garbage: ({ nodes }) => nodes.behaviour.next.push((reply) => reply.open().end('<html>')),
  reset: ({ nodes }) => nodes.behaviour.next.push((reply) => reply.reset()),
  halfList: ({ nodes }) => nodes.behaviour.next.push((reply) => reply.open().end('{"type":"ADDED"')),
};

it(
  'cache and subscribers finally have the state of the server, after any sequence of failures',
  async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.record({ event: fc.constantFrom(...Object.keys(EVENTS)), name, pauseMs: fc.nat(3_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        const cast = await castWatching(scene, { wholeClock: true });
        const mirror = new Map<string, string | undefined>();
        cast.informer.subscribe(({ type, object: { metadata } }) => {
          if (type === 'delete') mirror.delete(metadata?.name ?? '');
          else mirror.set(metadata?.name ?? '', metadata?.resourceVersion);
        });

        for (const { event, name: about, pauseMs } of steps) {
          EVENTS[event]?.(cast, about);
          await cast.clock.advance(pauseMs);
        }
        cast.nodes.behaviour.next = [];
        cast.nodes.set('last');

        await until(cast, () => expect(Object.fromEntries(mirror)).toEqual(cast.nodes.versions), 1_000);
        const kept = cast.informer.lister.list().map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]);
        expect(Object.fromEntries(kept)).toEqual(cast.nodes.versions);
        await scene.close();
      }),
      sampleRuns({ numRuns: 20, seed: 3 }, { numRuns: 100, timeoutMs: TIMEOUT_MS }),
    );
  },
  TIMEOUT_MS,
);
