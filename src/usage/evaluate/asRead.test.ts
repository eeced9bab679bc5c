import { describe, expect, it } from 'vitest';
import type { NodeUsage } from './percent.ts';
import { DEFAULT_KEY, readingKey } from './reading.ts';
import { asRead, withReadings, type ReadingFigures, type Snapshot } from './snapshot.ts';

const RECEIVE = readingKey({ direction: 'Receive' });

function usage(percent: number): NodeUsage {
  return { node: 'a', percent, devices: ['eth0'], timeSeconds: 7, reason: 'Measured' };
}

function aPass(changes: Partial<Snapshot> = {}): Snapshot {
  const unattributed = { unmatchedSeries: 0, ambiguousSeries: 0, unmatchedExamples: [], ambiguousExamples: [] };
  const nodes = new Map([['a', usage(10)]]);
  return {
    pass: 1,
    startedAt: 8_000,
    timeSeconds: 7,
    ok: true,
    warnings: ['partial'],
    nodes,
    ...unattributed,
    ...changes,
  };
}

function figures(changes: Partial<ReadingFigures>): Pick<Snapshot, 'readings'> {
  return { readings: new Map([[RECEIVE, { nodes: new Map([['a', usage(80)]]), warnings: [], ...changes }]]) };
}

describe('asRead', () => {
  it('is the pass itself by the default reading', () => {
    const pass = aPass(figures({}));
    expect(asRead(pass, DEFAULT_KEY)).toBe(pass);
  });

  it('has the figures and the warnings of the reading', () => {
    const { nodes, warnings } = asRead(aPass(figures({ warnings: ['partial', 'too'] })), RECEIVE);
    expect([nodes.get('a')?.percent, warnings]).toEqual([80, ['partial', 'too']]);
  });

  it('is a failed pass if the rates of the reading could not be read', () => {
    const error = { reason: 'QueryFailed', message: 'the receive rates: no' };
    expect(asRead(aPass(figures({ nodes: new Map(), error })), RECEIVE)).toMatchObject({
      ok: false,
      error,
      nodes: new Map(),
    });
  });

  it('has no figure of the default reading if the reading was not evaluated', () => {
    const { nodes, unread } = asRead(aPass(), RECEIVE);
    expect(unread).toBe('NotAsked');
    expect(nodes.get('a')).toMatchObject({ node: 'a', reason: 'NotEvaluated', devices: [] });
    expect(nodes.get('a')).not.toHaveProperty('percent');
  });

  it('has no figure if there was no time for the reading, and says so', () => {
    const pass = aPass(figures({ nodes: new Map(), hadNoTime: true }));
    const shown = asRead(pass, RECEIVE);
    expect([shown.ok, shown.unread]).toEqual([true, 'NoTime']);
    expect(shown.nodes.get('a')).toMatchObject({
      reason: 'NotEvaluated',
      message: expect.stringContaining('had no time left') as string,
    });
  });

  it('is a failed pass that failed', () => {
    const pass = aPass({ ok: false, nodes: new Map(), error: { reason: 'Deadline', message: 'no' } });
    expect(asRead(pass, RECEIVE)).toBe(pass);
  });
});

describe('withReadings', () => {
  it('adds readings and keeps those that the pass has', () => {
    const added = new Map([
      [RECEIVE, { nodes: new Map(), warnings: ['never'] }],
      ['other', { nodes: new Map(), warnings: [] }],
    ]);
    const pass = withReadings(aPass(figures({})), added);
    expect(pass.readings?.get(RECEIVE)?.nodes.get('a')?.percent).toBe(80);
    expect([...(pass.readings?.keys() ?? [])].sort()).toEqual([RECEIVE, 'other'].sort());
    expect(withReadings(pass, undefined)).toBe(pass);
  });
});
