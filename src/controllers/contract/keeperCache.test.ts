import { describe, expect, it } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { Informer, InformerEvent } from '../../runtime/cache/informer.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { createKeeperCache } from './keeperCache.ts';

const TYPES = { server: 'ConnectivityServer' } as const;
const stack = (components: ComponentSpec[], summary = '') => ({
  ...{ metadata: { name: 'main' }, spec: { components }, status: { summary } },
});
const NAMED = stack([{ name: 's', type: 'ConnectivityServer' }]);

/** An informer that has these stacks. */
function informer(state: { synced?: boolean; status?: number; list?: TrafficStack[] }) {
  const { synced = true, status, list = [] } = state;
  const listeners: ((event: InformerEvent<TrafficStack>) => void)[] = [];
  const refusal =
    status === undefined ? undefined : new ApiError({ method: 'GET', path: '/', status, reason: 'Refused' });
  const stacks = {
    ...{ synced, refusal, lister: { list: () => list } },
    subscribe: (listener: (typeof listeners)[number]) => listeners.push(listener),
  } as unknown as Informer<TrafficStack>;
  return { stacks, tell: () => listeners.forEach((listener) => listener({} as InformerEvent<TrafficStack>)) };
}

describe('what stacks ask of a controller', () => {
  const NAMED_SERVER = { component: NAMED.spec.components[0] };
  const NONE = { server: { isOn: undefined, isKept: false, isUndecided: false } };
  it.each<[string, Parameters<typeof informer>[0] | undefined, unknown, boolean, number]>([
    ['stacks are switched off', undefined, NONE, true, 0],
    ['they are not read yet', { synced: false }, undefined, false, 0],
    [
      'they are read',
      { list: [NAMED] },
      { server: { ...NAMED_SERVER, isOn: true, isKept: true, isUndecided: false } },
      true,
      0,
    ],
    ['they may not be read', { synced: false, status: 403 }, undefined, true, 1],
    ['they may not be watched any more: what was read may be old', { list: [NAMED], status: 403 }, undefined, true, 1],
    ['their CRD is not installed', { synced: false, status: 404 }, NONE, true, 0],
  ])('%s', (_, state, keepers, settled, refusals) => {
    const cache = createKeeperCache(state && informer(state).stacks, TYPES, []);
    expect(cache.keepers()).toEqual(keepers);
    expect(cache.settled).toBe(settled);
    expect(cache.refusals()).toHaveLength(refusals);
  });

  it('is not for ever the stack default, which may not be creatable', async () => {
    const clock = new FakeClock();
    const cache = createKeeperCache(informer({}).stacks, TYPES, [], { byDefault: new Set(['server'] as const), clock });
    expect(cache.keepers()?.server.isKept).toBe(true);
    await clock.advance(59_000);
    expect(cache.keepers()?.server.isKept).toBe(true);
    await clock.advance(1_000);
    expect(cache.keepers()?.server.isKept).toBe(false);
  });

  it('is told when it changes, and not with each report of a stack', () => {
    const list: TrafficStack[] = [];
    const { stacks, tell } = informer({ list });
    let told = 0;
    createKeeperCache(stacks, TYPES, []).subscribe(() => (told += 1));
    list.push(NAMED);
    tell();
    list[0] = stack(NAMED.spec.components, '0/1');
    tell();
    expect(told).toBe(1);
    list.pop();
    tell();
    expect(told).toBe(2);
  });
});
