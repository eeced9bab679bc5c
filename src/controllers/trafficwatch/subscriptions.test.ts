import { BodyBudget } from '../../runtime/cache/bodyBudget.ts';
import { describe, expect, it } from 'vitest';
import { createLabelMatcher } from '../../api/labelMatcher.ts';
import type { LabelSelector } from '../../api/labelSelector.ts';
import { trimNode, type CachedNode } from '../../nodes/cachedNode.ts';
import type { InformerEvent } from '../../runtime/cache/informer.ts';
import { createOverlay, type Overlay } from '../../runtime/cache/overlay.ts';
import { Store } from '../../runtime/cache/store.ts';
import { carriesOrphan, lookIfNews, watchChanged } from './subscriptions.ts';
import { aNode } from './testing/scene.ts';
import { sameSpec } from '../../runtime/client/resource.ts';
import { aWatch, KEY as SHOP_KEY, type WatchChanges } from './testing/observations.ts';

const KEY = 'web.traffic.example.com/unfit';

function at(version: number, labels: Record<string, string> = {}): CachedNode {
  const node = aNode('n1', labels);
  return { ...node, metadata: { ...node.metadata, resourceVersion: String(version) } };
}

/** The Nodes with this own write over them; the cache has n1. */
function nodesAfter(written?: CachedNode): Overlay<CachedNode> {
  const lister = new Store<CachedNode>();
  lister.set(at(1));
  const nodes = createOverlay({ lister, subscribe: () => () => undefined });
  if (written !== undefined) nodes.wrote(written);
  return nodes;
}

const hostname = (name: string): object => ({ 'kubernetes.io/hostname': name });

/** Whether the event calls `look` at once. */
function isNews(event: InformerEvent<CachedNode>, nodes: Overlay<CachedNode>, inUse: LabelSelector[] = []): boolean {
  const demands = { selectors: inUse.map(createLabelMatcher) };
  let looked = false;
  lookIfNews(event, { nodes, demands, underWay: () => undefined }, () => void (looked = true));
  return looked;
}

describe('news of a Node', () => {
  const update = (old: CachedNode, object: CachedNode) => ({ type: 'update', old, object }) as const;
  const nothing = nodesAfter();

  it('is a Node that is added or deleted', () => {
    expect(isNews({ type: 'add', object: at(1) }, nothing)).toBe(true);
    expect(isNews({ type: 'delete', object: at(1) }, nothing)).toBe(true);
  });

  it('is a label that another client changes, but not a heartbeat', () => {
    expect(isNews(update(at(1), at(2, { [KEY]: 'true' })), nothing)).toBe(true);
    expect(isNews(update(at(1), at(2)), nothing)).toBe(false);
  });

  const ZONE_A: LabelSelector = { matchLabels: { zone: 'a' } };
  const HOST: LabelSelector = { matchLabels: { 'kubernetes.io/hostname': 'h1' } };
  const labelled = (labels: object): CachedNode => ({
    ...trimNode('mine')({ metadata: { name: 'n1', labels: { ...labels } } }),
    metadata: { name: 'n1', resourceVersion: '2' },
  });

  it.each<[why: string, selectors: LabelSelector[], from: object, to: object, expected: boolean]>([
    ['no TrafficWatch has a selector', [], { zone: 'a' }, { zone: 'b' }, false],
    ['the node leaves the selection', [ZONE_A], { zone: 'a' }, { zone: 'b' }, true],
    ['the node enters the selection', [ZONE_A], {}, { zone: 'a' }, true],
    ['the node is outside before and after', [ZONE_A], { zone: 'b' }, { zone: 'c' }, false],
    ['no selector asks for the label', [ZONE_A], { zone: 'a', pool: 'x' }, { zone: 'a', pool: 'y' }, false],
    ['the labels are the same', [ZONE_A], { zone: 'a' }, { zone: 'a' }, false],
    ['one of several selectors asks for the hostname', [ZONE_A, HOST], hostname('h1'), hostname('h2'), true],
  ])('is another label only if a selector asks for it: %s', (_why, selectors, from, to, expected) => {
    expect(isNews(update(labelled(from), labelled(to)), nothing, selectors)).toBe(expected);
  });

  it('is not a write of this process', () => {
    const written = nodesAfter(at(5, { [KEY]: 'true' }));
    expect(isNews(update(at(1), at(5, { [KEY]: 'true' })), written)).toBe(false);
  });

  it('is not a write of this process, even though its response has no addresses', () => {
    const written = nodesAfter({ ...at(5, { [KEY]: 'true' }), addresses: [] });
    const whole = (node: CachedNode): CachedNode => ({ ...node, addresses: ['198.18.0.1'] });
    expect(isNews(update(whole(at(1)), whole(at(5, { [KEY]: 'true' }))), written)).toBe(false);
    expect(isNews(update(whole(at(1)), at(5, { [KEY]: 'true' })), written)).toBe(true);
  });

  it('is what another client wrote after that, but not before', () => {
    const written = nodesAfter(at(5, { [KEY]: 'true' }));
    const rival = { [KEY]: 'false' };
    expect(isNews(update(at(1), at(4, rival)), written)).toBe(false);
    expect(isNews(update(at(4, rival), at(5, { [KEY]: 'true' })), written)).toBe(false);
    expect(isNews(update(at(5, { [KEY]: 'true' }), at(6, rival)), written)).toBe(true);
  });
});

describe('news of a Node that is being written', () => {
  const event = { type: 'update', old: at(1), object: at(5, { [KEY]: 'true' }) } as const;

  /** How often `look` was called before the response, and after it. */
  async function looks(answer: CachedNode): Promise<[before: number, after: number]> {
    const nodes = nodesAfter();
    const patch = Promise.withResolvers<undefined>();
    let count = 0;
    const underWay = (node: string) => (node === 'n1' ? patch.promise : undefined);
    lookIfNews(event, { nodes, demands: { selectors: [] }, underWay }, () => (count += 1));
    const before = count;
    nodes.wrote(answer);
    patch.resolve(undefined);
    await patch.promise;
    return [before, count];
  }

  it('is no news if the event arrives before the response and has the same content', async () => {
    expect(await looks(at(5, { [KEY]: 'true' }))).toEqual([0, 0]);
  });

  it('is what another client wrote meanwhile', async () => {
    expect(await looks(at(4, { [KEY]: 'false' }))).toEqual([0, 1]);
  });
});

describe('carriesOrphan', () => {
  const isClaimed = (key: string): boolean => key === KEY;

  it.each([
    ['a claimed label of ours', aNode('n1', { [KEY]: 'true' }, [KEY]), false],
    ['an unclaimed label of ours', aNode('n1', { 'old/unfit': 'true' }, ['old/unfit']), true],
    ['a label of a person', aNode('n1', { 'old/unfit': 'true' }), false],
    ['a key of ours whose label was removed', aNode('n1', {}, ['old/unfit']), false],
  ])('for %s', (_what, node, orphan) => expect(carriesOrphan(node, isClaimed)).toBe(orphan));
});

const before = aWatch({ metadata: { generation: 1, uid: 'uid-web' } });

describe('two states of a TrafficWatch', () => {
  it.each<[what: string, changes: WatchChanges, isSame: boolean, isChanged: boolean]>([
    ['nothing differs', {}, true, false],
    ['the spec', { metadata: { generation: 2 } }, false, true],
    ['deleted and created again', { metadata: { uid: 'uid-of-another' } }, false, true],
    ['is being deleted', { metadata: { deletionTimestamp: new Date(0) } }, true, true],
    ['the status', { status: { observedGeneration: 1 } }, true, false],
    ['the label key in the status', { status: { labelKey: SHOP_KEY } }, true, true],
  ])('%s', (_what, changes, isSame, isChanged) => {
    const now = aWatch(changes);
    expect([sameSpec(before, now), watchChanged(before, now)]).toEqual([isSame, isChanged]);
  });
});

it('a TrafficWatch whose body the cache has dropped is changed, also if the rest is the same', () => {
  const dropped = new BodyBudget(0).keep(before, (watch) => watch);
  expect([watchChanged(before, dropped), watchChanged(dropped, before), watchChanged(dropped, dropped)]).toEqual([
    ...[true, true, false],
  ]);
});
