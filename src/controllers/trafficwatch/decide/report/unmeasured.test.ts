import { describe, expect, it } from 'vitest';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import { pass, usage } from '../../testing/observations.ts';
import { settled, unknown } from '../verdict/nodeVerdict.ts';
import { describeUnmeasured } from './measurementConditions.ts';
import { whyUnknown } from './status.ts';

const missing = (node: string, reason: NodeUsage['reason'], message: string, changes: Partial<NodeUsage> = {}) =>
  usage(node, undefined, { reason, message, ...changes });

describe('the message about nodes without figures', () => {
  const messageOf = (...usages: NodeUsage[]): string => {
    const nodes = new Map(usages.map((each) => [each.node, each]));
    return describeUnmeasured([...nodes.keys()].map((name) => ({ name })).reverse(), pass(1, {}, { nodes }));
  };

  it('says of the first node of each reason what is wrong and what to do', () => {
    const nodes = [
      missing('a', 'NoSeries', 'Prometheus has no series of this node'),
      missing('b', 'NoCapacity', 'state it'),
      missing('c', 'NoCapacity', 'state it, too'),
      missing('d', 'AmbiguousSeries', 'set this'),
    ];
    expect(messageOf(...nodes)).toBe(
      'no data for a (NoSeries), b (NoCapacity), c (NoCapacity), d (AmbiguousSeries); b: state it; d: set this',
    );
  });

  it('explains three reasons at most, each shortened: series of others are quoted', () => {
    const reasons = ['NoCapacity', 'InvalidSample', 'AmbiguousSeries', 'StaleSamples', 'CounterReset'] as const;
    const message = messageOf(...reasons.map((reason, n) => missing(`n${n}`, reason, 'x'.repeat(5_000))));
    expect(message.match(/; n\d: x{600}…/g)).toHaveLength(3);
    expect(message.length).toBeLessThan(2_100);
  });
});

describe('the message of a node', () => {
  const HELD = unknown('FirstPass', 'measured in one pass');
  const ABOVE = settled('above', 'NoData', 'it counts as unfit');
  const LATE = { newestSeconds: 1_700_000_000 };
  it.each([
    ['a figure and a verdict', usage('n', 1), settled('notAbove', 'BelowThreshold', 'below'), undefined],
    ['a figure, not yet a verdict', usage('n', 1), HELD, 'measured in one pass'],
    ['no figure', missing('n', 'NoCapacity', 'state it'), unknown('NoCapacity', 'state it'), 'state it'],
    ['no figure, and counts as unfit', missing('n', 'NoCapacity', 'state it'), ABOVE, 'state it'],
    ['late samples', missing('n', 'StaleSamples', 'late', LATE), ABOVE, 'late; it is of 2023-11-14T22:13:20Z'],
    ['no time that is one', missing('n', 'StaleSamples', 'late', { newestSeconds: 1e300 }), ABOVE, 'late'],
    ['a pass that failed', undefined, unknown('PrometheusUnreachable', 'refused'), 'refused'],
  ])('with %s', (_what, newest, verdict, message) => {
    expect(whyUnknown(newest, verdict)).toBe(message);
  });
});
