import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import {
  anObservation,
  aWatch,
  changed,
  failedPass,
  KEY,
  LABELLING,
  NOW,
  pass,
  TWO_PASSES,
  usage,
} from '../testing/observations.ts';
import { decidePlan } from '../decide/decidePlan.ts';
import { isWindowFilling, nextOutages, NO_OUTAGE, type Outages } from './passMemory.ts';
import type { VerdictInput } from '../decide/verdict/policies.ts';
import { decideVerdict } from '../decide/verdict/verdict.ts';

/** The defaults: a pass every 10 s, and a window of 24 s. */
const WINDOW_MS = 24_000;
const PASS_MS = 10_000;

type Kind = 'figures' | 'rates only' | 'failed' | 'no figure' | 'no nodes';

function aPass(kind: Kind, n: number): Snapshot {
  const startedAt = NOW + n * PASS_MS;
  if (kind === 'failed') return { ...failedPass(n), startedAt };
  if (kind === 'rates only') {
    const nodes = new Map([['n1', usage('n1', undefined, { reason: 'NoCapacity', bytesPerSecond: 1 })]]);
    return pass(n, {}, { startedAt, nodes });
  }
  const percents = { figures: { n1: 1, n2: undefined }, 'no figure': { n1: undefined }, 'no nodes': {} }[kind];
  return pass(n, percents, { startedAt });
}

/** For each pass, whether the window is filling: '+' if so. */
function filling(...kinds: Kind[]): string {
  let outages: Outages = NO_OUTAGE;
  return kinds
    .map((kind, n) => {
      const newest = aPass(kind, n);
      outages = nextOutages(outages, newest, WINDOW_MS);
      return isWindowFilling(outages, newest, WINDOW_MS) ? '+' : '-';
    })
    .join('');
}

describe('isWindowFilling', () => {
  it('is false at a start with a Prometheus that has scrapes', () => {
    expect(filling('figures', 'figures', 'figures')).toBe('---');
  });

  it('is true for a window after two passes or more failed', () => {
    expect(filling('figures', 'failed', 'failed', 'figures', 'figures', 'figures', 'figures')).toBe('---+++-');
  });

  it('is true for a window after scrapes were lost, however short that was', () => {
    expect(filling('figures', 'no figure', 'figures', 'figures', 'figures', 'figures')).toBe('--+++-');
    expect(filling('figures', 'failed', 'no figure', 'figures')).toBe('---+');
  });

  it('is by rates: nodes may have a capacity only in the spec of a TrafficWatch', () => {
    expect(filling('rates only', 'rates only', 'figures')).toBe('---');
    expect(filling('rates only', 'no figure', 'rates only', 'rates only', 'rates only', 'rates only')).toBe('--+++-');
  });

  it('is false after one failed pass, and while every third pass fails', () => {
    expect(filling('figures', 'failed', 'figures', 'figures')).toBe('----');
    expect(filling('figures', 'figures', 'failed', 'figures', 'figures', 'failed', 'figures')).toBe('-------');
  });

  it('begins again after another outage', () => {
    expect(filling('figures', 'no figure', 'figures', 'no figure', 'figures', 'figures', 'figures', 'figures')).toBe(
      '--++++' + '+-',
    );
  });

  it('sees an outage that the process began in', () => {
    expect(filling('failed', 'failed', 'figures')).toBe('--+');
    expect(filling('failed', 'figures')).toBe('--');
    expect(filling('no figure', 'figures')).toBe('-+');
  });

  it('does not mistake a cluster without nodes for an outage', () => {
    expect(filling('figures', 'no nodes', 'figures')).toBe('---');
  });

  it('needs more than half a window of failed passes', () => {
    const long = 60_000;
    const passes = (['figures', 'failed', 'failed', 'figures'] as const).map(aPass);
    const outages = passes.reduce<Outages>((before, each) => nextOutages(before, each, long), NO_OUTAGE);
    expect(isWindowFilling(outages, passes.at(-1), long)).toBe(false);
  });

  it('is false if the clock was set back', () => {
    expect(isWindowFilling({ backAt: NOW + 1 }, aPass('figures', 0), WINDOW_MS)).toBe(false);
  });
});

describe('the policy warmingUp', () => {
  const input: VerdictInput = {
    maxPercent: 10,
    passes: [usage('n1', 50), usage('n1', 50)],
    labelled: 'notAbove',
    passError: undefined,
    passesToAgree: TWO_PASSES,
    isWindowFilling: true,
  };

  it.each<[string, Partial<VerdictInput>, string, string]>([
    ['a fit node stays fit', {}, 'Fit', 'WarmingUp'],
    [
      'an unfit node stays unfit',
      { labelled: 'above', passes: [usage('n1', 1), usage('n1', 1)] },
      'Unfit',
      'WarmingUp',
    ],
    ['a verdict that stays has its reason', { labelled: 'above' }, 'Unfit', 'AboveThreshold'],
    ['a node without a label is decided', { labelled: undefined }, 'Unfit', 'AboveThreshold'],
    ['a node without a figure is Unknown', { passes: [undefined, usage('n1', 50)] }, 'Unknown', 'NoSeries'],
    ['the window is full', { isWindowFilling: false }, 'Unfit', 'AboveThreshold'],
  ])('%s', (_why, changes, verdict, reason) => {
    expect(decideVerdict({ ...input, ...changes })).toMatchObject({ verdict, reason });
  });

  it('writes no label in a plan', () => {
    const nodes = { n1: { [KEY]: 'false' } };
    const passes = [pass(2, { n1: 50 }), pass(1, { n1: 50 })];
    const watch = aWatch(LABELLING);
    expect(decidePlan(anObservation({ watch, nodes, passes, isWindowFilling: true })).labels.size).toBe(0);
    expect(decidePlan(anObservation({ watch, nodes, passes })).labels.size).toBe(1);
  });

  it.each([
    ['the operator wrote', [KEY], 0],
    ['another client wrote over, which is corrected at once', [], 1],
  ])('for a label that %s', (_who, ownedKeys, changes) => {
    const passes = [pass(2, { n1: 1 }), pass(1, { n1: 1 })];
    const o = anObservation({ watch: aWatch(LABELLING), nodes: { n1: {} }, passes, isWindowFilling: true });
    const node = { name: 'n1', labels: { [KEY]: 'true' }, createdAt: 0, ownedKeys };
    expect(decidePlan(changed(o, { nodes: [node] })).labels.size).toBe(changes);
  });
});
