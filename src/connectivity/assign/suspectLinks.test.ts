import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PeerResult } from '../protocol/measurement.ts';
import { SuspectLinks, MOST_LINKS, MOST_LINKS_OF_NODE } from './suspectLinks.ts';

type State = 'ok' | 'failed' | 'lossy' | 'mtu';

function resultOf(node: string, state: State): PeerResult {
  const at = { node, address: '198.18.0.1' };
  if (state === 'failed') return { ...at, tcp: { ok: false, error: 'Timeout' }, udp: { sent: 20, received: 0 } };
  const udp = { sent: 20, received: state === 'lossy' ? 10 : 20 };
  return { ...at, tcp: { ok: true }, udp, ...(state === 'mtu' && { mtu: { interface: 1_500, largest: 1_400 } }) };
}

let links: SuspectLinks;

function report(node: string, results: Readonly<Record<string, State>>, mayKeep = () => true): void {
  const peers = Object.entries(results).map(([peer, state]) => resultOf(peer, state));
  links.seen({ node, plane: 'Pod', peers, lossPercent: 10, mayKeep });
}

beforeEach(() => {
  links = new SuspectLinks();
});

describe('a link', () => {
  it.each(['failed', 'lossy', 'mtu'] as const)('that is %s is kept at both ends, on its plane', (state) => {
    report('a', { b: state, c: 'ok' });
    expect([links.of('a', 'Pod'), links.of('b', 'Pod'), links.of('c', 'Pod')]).toEqual([['b'], ['a'], []]);
    expect([links.of('a', 'Host'), links.size]).toEqual([[], 1]);
  });

  it('is not kept if a node of it is not judged, nor is one of a node to itself', () => {
    report('a', { b: 'failed' }, () => false);
    report('c', { c: 'failed' });
    expect(links.size).toBe(0);
  });

  it('is kept if one of two addresses fails', () => {
    const peers = [resultOf('b', 'failed'), resultOf('b', 'ok')];
    links.seen({ node: 'a', plane: 'Pod', peers, lossPercent: 10, mayKeep: () => true });
    expect(links.size).toBe(1);
  });

  it('is forgotten after two reports in a row of both ends in which it is Ok', () => {
    report('a', { b: 'failed' });
    for (const state of ['ok', 'failed', 'ok', 'ok', 'ok'] as const) {
      report('a', { b: state });
      expect(links.size).toBe(1);
    }
    report('b', { a: 'ok' });
    expect(links.size).toBe(1);
    report('b', { a: 'ok' });
    expect([links.size, links.of('a', 'Pod'), links.of('b', 'Pod')]).toEqual([0, [], []]);
  });

  it('stays while reports do not tell of it', () => {
    report('a', { b: 'failed' });
    for (let n = 0; n < 5; n += 1) for (const node of ['a', 'b']) report(node, {});
    expect(links.size).toBe(1);
  });

  it('is awaited of an end until its second report', () => {
    report('a', { b: 'failed' });
    expect(links.awaited('b', 'Pod')).toEqual(['a']);
    report('b', {});
    expect(links.awaited('b', 'Pod')).toEqual(['a']);
    report('b', { a: 'failed' });
    expect(links.awaited('b', 'Pod')).toEqual([]);
  });

  it('is forgotten when it may no longer be kept', () => {
    report('a', { b: 'failed', c: 'failed' });
    links.forget((from, to, plane) => plane === 'Pod' && [from, to].sort().join() === 'a,c');
    expect([links.size, links.of('a', 'Pod'), links.of('b', 'Pod')]).toEqual([1, ['c'], []]);
  });
});

describe('the room for links', () => {
  const many = (prefix: string, count: number, state: State): Record<string, State> =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, state]));

  it('is bounded at each node, at both ends', () => {
    report('a', many('p', 40, 'failed'));
    for (let n = 0; n < 40; n += 1) report(`q${n}`, { b: 'failed' });
    expect([links.of('a', 'Pod').length, links.of('b', 'Pod').length]).toEqual([
      MOST_LINKS_OF_NODE,
      MOST_LINKS_OF_NODE,
    ]);
  });

  it('is bounded in all', () => {
    for (let n = 0; n < MOST_LINKS; n += 1) report(`a${n}`, { [`b${n}`]: 'failed', [`c${n}`]: 'failed' });
    expect(links.size).toBe(MOST_LINKS);
  });

  it('is not taken by loss alone', () => {
    report('a', many('p', 40, 'lossy'));
    expect(links.of('a', 'Pod')).toHaveLength(MOST_LINKS_OF_NODE / 2);
    report('a', { b: 'failed' });
    expect(links.of('a', 'Pod')).toContain('b');
    for (let n = 0; n < MOST_LINKS; n += 1) report(`c${n}`, { [`d${n}`]: 'lossy' });
    expect(links.size).toBe(MOST_LINKS / 2);
    report('e', { f: 'mtu' });
    expect(links.of('e', 'Pod')).toEqual(['f']);
  });

  it('is not taken by nodes of which one address works', () => {
    const half = (node: string): PeerResult[] => [resultOf(node, 'failed'), resultOf(node, 'ok')];
    const peers = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? half(`p${n}`) : half(`p${n}`).reverse()));
    links.seen({ node: 'a', plane: 'Pod', peers: peers.flat(), lossPercent: 10, mayKeep: () => true });
    expect(links.of('a', 'Pod')).toHaveLength(MOST_LINKS_OF_NODE / 2);
    links.seen({ node: 'a', plane: 'Pod', peers: half('b'), lossPercent: 10, mayKeep: () => true });
    expect(links.of('a', 'Pod')).not.toContain('b');
    const both = [resultOf('b', 'failed'), resultOf('b', 'failed')];
    links.seen({ node: 'a', plane: 'Pod', peers: both, lossPercent: 10, mayKeep: () => true });
    expect(links.of('a', 'Pod')).toContain('b');
  });

  it('is free again when all links work: whatever was reported', () => {
    const nodes = Array.from({ length: 15 }, (_, n) => `n${n}`);
    const state = fc.constantFrom<State>('ok', 'failed', 'lossy', 'mtu');
    const reports = fc.tuple(fc.constantFrom(...nodes), fc.dictionary(fc.constantFrom(...nodes), state));
    fc.assert(
      fc.property(fc.array(reports, { maxLength: 60 }), (all) => {
        links = new SuspectLinks();
        for (const [node, results] of all) report(node, results);
        for (const node of nodes) {
          const kept = links.of(node, 'Pod');
          expect(kept.length).toBeLessThanOrEqual(MOST_LINKS_OF_NODE);
          for (const peer of kept) expect(links.of(peer, 'Pod')).toContain(node);
        }
        const ends = nodes.map((node) => links.of(node, 'Pod').length).reduce((sum, count) => sum + count, 0);
        expect(links.size).toBe(ends / 2);
        for (let n = 0; n < 2; n += 1) {
          for (const node of nodes) report(node, Object.fromEntries(nodes.map((peer) => [peer, 'ok'])));
        }
        expect(links.size).toBe(0);
      }),
    );
  });
});
