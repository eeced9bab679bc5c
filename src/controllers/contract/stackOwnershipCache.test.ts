import { describe, expect, it } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { Informer, InformerEvent } from '../../runtime/cache/informer.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { StackSource } from './context.ts';
import { createStackOwnershipCache } from './stackOwnershipCache.ts';

const TYPES = { server: 'ConnectivityServer' } as const;
const BY_FLAGS = new Set(['server'] as const);
const stack = (components: ComponentSpec[], summary = '') => ({
  ...{ metadata: { name: 'main' }, spec: { components }, status: { summary } },
});
const NAMED = stack([{ name: 's', type: 'ConnectivityServer', mode: 'Disabled' }]);

/** Stacks of an informer, of which all are active. */
function source(state: { synced?: boolean; status?: number; list?: TrafficStack[] }) {
  const { synced = true, status, list = [] } = state;
  const listeners: ((event: InformerEvent<TrafficStack>) => void)[] = [];
  const refusal =
    status === undefined ? undefined : new ApiError({ method: 'GET', path: '/', status, reason: 'Refused' });
  const informer = {
    ...{ synced, refusal, lister: { list: () => list } },
    subscribe: (listener: (typeof listeners)[number]) => listeners.push(listener),
  } as unknown as Informer<TrafficStack>;
  const stacks: StackSource = { informer, active: (all) => all };
  return { stacks, tell: () => listeners.forEach((listener) => listener({} as InformerEvent<TrafficStack>)) };
}

describe('what stacks ask of a controller', () => {
  const BY_DEFAULT = { server: { isOn: undefined, isNamed: false, isOwned: true, isUndecided: true } };
  it.each<[string, Parameters<typeof source>[0], unknown, boolean, string[]]>([
    ['they are not read yet', { synced: false }, undefined, false, []],
    [
      'they are read',
      { list: [NAMED] },
      { server: { isOn: false, isNamed: false, isOwned: false, isUndecided: false } },
      true,
      [],
    ],
    ['they may not be read', { synced: false, status: 403 }, undefined, true, ['Forbidden']],
    ['they may no longer be watched: the cache may be old', { status: 403 }, undefined, true, ['Forbidden']],
    ['their CRD is not installed', { synced: false, status: 404 }, BY_DEFAULT, true, ['CrdMissing']],
  ])('%s', (_, state, ownership, settled, refusals) => {
    const cache = createStackOwnershipCache(source(state).stacks, TYPES, [], BY_FLAGS);
    expect(cache.ownership()).toEqual(ownership);
    expect(cache.isRead).toBe(settled);
    expect(cache.refusals().map(({ reason }) => reason)).toEqual(refusals);
  });

  it('is nothing of stacks that are not active', () => {
    const { stacks } = source({ list: [NAMED] });
    expect(createStackOwnershipCache({ ...stacks, active: () => [] }, TYPES, [], BY_FLAGS).ownership()).toEqual(
      BY_DEFAULT,
    );
  });

  it('does not need the CRD if the flags deploy nothing', () => {
    const { stacks } = source({ synced: false, status: 404 });
    expect(createStackOwnershipCache(stacks, TYPES, [], new Set()).refusals()).toEqual([]);
  });

  it('sends an event when it changes, and not with each report of a stack', () => {
    const list: TrafficStack[] = [];
    const { stacks, tell } = source({ list });
    let told = 0;
    createStackOwnershipCache(stacks, TYPES, [], BY_FLAGS).subscribe(() => (told += 1));
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
