import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { trafficWatchSchema } from '../../../../api/trafficwatch/schema.ts';
import { diffMergePatch } from '../../../../runtime/apply/mergePatch.ts';
import { anObservation, aWatch, changed, KEY, NOW, pass, usage } from '../../testing/observations.ts';
import type { Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import type { Observation } from '../../observe/observation.ts';
import { decidePlan } from '../decidePlan.ts';
import { hottestOf } from '../../model/hottest.ts';
import { mostUrgent, selectNodes } from './statusNodes.ts';
import { decideEvents } from './events.ts';
import { settled, statusOf } from '../../testing/settled.ts';

describe('beyond 100 nodes', () => {
  const names = Array.from({ length: 300 }, (_, i) => `node-${String(i).padStart(3, '0')}`);
  const percents = (hot: number) => Object.fromEntries(names.map((n, i) => [n, i < hot ? 50 : 1]));
  const large = (hot: number) =>
    anObservation({
      nodes: Object.fromEntries(names.map((n) => [n, {}])),
      passes: [pass(2, percents(hot)), pass(1, percents(hot))],
    });

  it('lists a bounded number, the unfit first, and stays below 16 KiB', () => {
    const status = statusOf(large(30));
    const listed = Object.keys(status.nodes ?? {});
    expect(status).toMatchObject({ fitNodes: 270, unfitNodes: 30 });
    expect(listed).toEqual(expect.arrayContaining(names.slice(0, 30)));
    expect(listed.length).toBeLessThanOrEqual(60);
    expect(JSON.stringify(status).length).toBeLessThan(16 * 1024);
  });

  it('has the limits that the CRD describes: all nodes up to 100, beyond that 60 with the hottest 20', () => {
    const listed = (count: number, verdict: 'Fit' | 'Unfit') => {
      const nodes = names
        .slice(0, count)
        .map((name, place) => ({ node: { name, labels: {}, createdAt: 0 }, place, passes: [] }));
      const decided = nodes.map(() => ({ verdict, reason: '', message: '', side: undefined }));
      const listing = {
        candidates: nodes,
        verdicts: decided,
        hottest: hottestOf(nodes),
        urgent: mostUrgent(nodes, decided),
      };
      return selectNodes(listing).length;
    };
    const limits = [listed(100, 'Fit'), listed(300, 'Unfit'), listed(300, 'Fit')];
    const description = trafficWatchSchema.shape.status.unwrap().shape.nodes.meta()?.description ?? '';
    expect(description.match(/\d+/g)?.map(Number)).toEqual(limits);
  });

  const noisy = (hot: number, n: number) =>
    Object.fromEntries(
      names.map((name, i) => [
        name,
        i < hot ? 50 + ((i * 7 + n * 13) % 100) * 1e-3 : 1 + ((i * 7 + n * 13) % 100) * 1e-3,
      ]),
    );

  it.each([30, 90])('is not written if only the hottest nodes change places, with %d unfit nodes', (unfit) => {
    const o = settled(large(unfit));
    for (const n of [1, 2, 3, 4, 5]) {
      const passes = [pass(n + 2, noisy(unfit, n)), pass(n + 1, noisy(unfit, n - 1))];
      const later = changed(o, { now: NOW + n * 10_000, passes });
      expect(diffMergePatch(o.watch.status, statusOf(later))).toBeUndefined();
    }
  });

  it('lists a new unfit node at once if it sorts before listed ones', () => {
    const o = settled(changed(large(90), { nodes: large(90).view.nodes.slice(1) }));
    const joined = changed(o, { now: NOW + 10_000, nodes: [large(90).view.nodes[0]!, ...o.view.nodes] });
    expect(o.watch.status?.nodes).not.toHaveProperty(names[0]!);
    expect(statusOf(joined).nodes?.[names[0]!]).toMatchObject({ verdict: 'Unfit' });
  });

  /** The large cluster, where these nodes have no figure. */
  const largeWithout = (hot: number, lost: readonly string[]): Observation => {
    const figures = { ...percents(hot), ...Object.fromEntries(lost.map((name) => [name, undefined])) };
    return changed(large(hot), { passes: [pass(2, figures), pass(1, figures)] });
  };

  it('lists unfit nodes before unknown ones', () => {
    const nodes = Object.values(statusOf(largeWithout(90, names.slice(0, 30))).nodes ?? {});
    expect(nodes.filter(({ verdict }) => verdict === 'Unfit')).toHaveLength(60);
    expect(nodes).toHaveLength(60);
  });

  it('shows at once that somebody changed the label of an unknown node', () => {
    const [lost = ''] = names;
    const o = settled(largeWithout(0, [lost]));
    expect(o.watch.status?.nodes?.[lost]).toMatchObject({ verdict: 'Unknown', unfit: false });
    const relabelled = o.view.nodes.map((node) => (node.name === lost ? { ...node, labels: { [KEY]: 'true' } } : node));
    expect(statusOf(changed(o, { nodes: relabelled })).nodes?.[lost]).toMatchObject({
      verdict: 'Unknown',
      unfit: true,
    });
  });

  it('drops a deleted node at once', () => {
    const o = settled(large(0));
    const [gone = ''] = Object.keys(o.watch.status?.nodes ?? {});
    expect(statusOf(changed(o, { nodes: o.view.nodes.filter((n) => n.name !== gone) })).nodes).not.toHaveProperty(gone);
  });

  it('has no `since` for a node that was not listed before', () => {
    const o = settled(large(0));
    const listed = Object.keys(o.watch.status?.nodes ?? {});
    const late = names.find((name) => !listed.includes(name)) ?? '';
    const hot = { ...percents(0), [late]: 9 };
    const passes = [pass(4, hot, { timeSeconds: NOW / 1000 + 60 }), pass(3, hot)];
    const status = statusOf(changed(o, { now: NOW + 60_000, passes }));
    expect(status.nodes?.[late]).toMatchObject({ verdict: 'Fit' });
    expect(status.nodes?.[late]).not.toHaveProperty('since');
  });

  it('emits events for exactly the nodes that turned, listed or not', () => {
    const o = settled(large(90));
    const cooler = { ...percents(90), ...Object.fromEntries(names.slice(0, 3).map((n) => [n, 1])) };
    const later = changed(o, { nodes: labelled(o, 90), passes: [pass(4, cooler), pass(3, cooler)] });
    const told = decideEvents({ o: later, plan: decidePlan(later), after: statusOf(later), failures: [] });
    expect(told.map((e) => e.reason)).toEqual(['NodeFit', 'NodeFit', 'NodeFit']);
    const failed = [{ reason: 'Forbidden', message: 'x' }];
    expect(decideEvents({ o: later, plan: decidePlan(later), after: statusOf(later), failures: failed })).toEqual([]);
  });

  /** The nodes with the labels of their verdicts, for this many unfit nodes, listed or not. */
  const labelled = (o: Observation, hot: number) =>
    o.view.nodes.map((n, i) => ({ ...n, labels: { [KEY]: String(i < hot) } }));

  const INTERVAL_SECONDS = 10;

  /** The passes after the first one that write the status, if figures change in each pass. */
  const writesOf = (uid: string, { passes = 24, passAt = passOf() } = {}): number[] => {
    const watch = aWatch({ metadata: { uid } });
    let o = settled(changed(large(0), { watch, newest: passAt(0) }));
    const writes: number[] = [];
    for (let n = 1; n <= passes; n += 1) {
      const now = NOW + n * INTERVAL_SECONDS * 1000;
      o = changed(o, { now, passes: [passAt(n), o.view.passes[0]!] });
      const status = statusOf(o);
      if (diffMergePatch(o.watch.status, status) === undefined) continue;
      writes.push(n);
      o = changed(o, { watch: { ...o.watch, status } });
    }
    return writes;
  };
  /** The clock of Prometheus may differ from ours, and several servers may answer in turn. */
  const passOf =
    (...clockOffsets: number[]) =>
    (n: number) => {
      const startedAt = NOW + n * INTERVAL_SECONDS * 1000;
      const offset = clockOffsets[n % clockOffsets.length] ?? 0;
      return pass(n + 2, noisy(0, n), { startedAt, timeSeconds: startedAt / 1000 + offset });
    };
  const onceAMinute = (writes: readonly number[]): void => {
    expect(writes).toHaveLength(4);
    for (const [i, n] of writes.slice(1).entries()) expect(Math.abs(n - writes[i]! - 6)).toBeLessThanOrEqual(1);
  };

  it.each([0, -300, 300])('writes figures once a minute if the clock of Prometheus is off by %d s', (offset) => {
    onceAMinute(writesOf('uid-web', { passAt: passOf(offset) }));
  });

  it.each([15, 45])('writes figures once a minute if the clocks of two Prometheus servers are %d s apart', (offset) => {
    onceAMinute(writesOf('uid-web', { passAt: passOf(0, offset) }));
  });

  it('writes figures at once after the clock of Prometheus was set back by an hour', () => {
    const o = settled(large(0));
    const earlier = { now: NOW + 1_000, newest: pass(3, noisy(0, 1), { timeSeconds: NOW / 1000 - 3_600 }) };
    expect(diffMergePatch(o.watch.status, statusOf(changed(o, earlier)))).toHaveProperty('nodes');
  });

  it('writes figures once a minute if the capacity of no node is known', () => {
    const unknown = (n: number): Snapshot => {
      const known = passOf()(n);
      const nodes = names.map((name) => {
        const { timeSeconds } = known.nodes.get(name)!;
        const counters = { transmitBytesTotal: 123 + n, bytesPerSecond: 5 };
        return [name, usage(name, undefined, { ...counters, timeSeconds, reason: 'NoCapacity' })] as const;
      });
      return { ...known, nodes: new Map(nodes) };
    };
    onceAMinute(writesOf('uid-web', { passAt: unknown }));
  });

  it('writes figures at another second of the minute for each TrafficWatch, so that they do not all write at once', () => {
    const uids = Array.from({ length: 30 }, (_, i) => createHash('sha256').update(`${i}`).digest('hex').slice(0, 32));
    const firsts = uids.map((uid) => writesOf(uid, { passes: 6 })[0]!);
    const most = Math.max(...[1, 2, 3, 4, 5, 6].map((n) => firsts.filter((first) => first === n).length));
    expect(new Set(firsts)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    expect(most).toBeLessThan(15);
  });

  it('writes a changed verdict at once, together with the figures', () => {
    const o = settled(large(0));
    const hot = { ...percents(0), 'node-007': 50 };
    const passes = [pass(4, hot, { timeSeconds: NOW / 1000 + 1 }), pass(3, hot)];
    const status = statusOf(changed(o, { now: NOW + 1_000, passes }));
    const time = NOW / 1000 + 1;
    expect(diffMergePatch(o.watch.status, status)).toMatchObject({
      unfitNodes: 1,
      nodes: { 'node-000': { time }, 'node-007': { time, verdict: 'Unfit', currentBandwidthPercent: '5e+01' } },
    });
  });
});
