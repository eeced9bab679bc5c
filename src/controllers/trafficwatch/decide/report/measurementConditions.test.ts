import { describe, expect, it } from 'vitest';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import { pass, usage, anObservation, changed, failedPass, NOW } from '../../testing/observations.ts';
import { settled as decided, unknown } from '../verdict/nodeVerdict.ts';
import { describeUnmeasured } from './measurementConditions.ts';
import { whyUnknown } from './status.ts';
import type { Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import type { Observation } from '../../observe/observation.ts';
import { eventsOf, settled, statusOf } from '../../testing/settled.ts';

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
  const ABOVE = decided('above', 'NoData', 'it counts as unfit');
  const LATE = { newestSeconds: 1_700_000_000 };
  it.each([
    ['a figure and a verdict', usage('n', 1), decided('notAbove', 'BelowThreshold', 'below'), undefined],
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

const WHOLE = { n1: 1, n2: 2 };
const PARTIAL = { n1: 1, n2: undefined };
const INTERVAL_MS = 10_000;

type Make = (n: number) => Snapshot;

const whole: Make = (n) => pass(n, WHOLE);
const partial: Make = (n) => pass(n, PARTIAL);
const failed: Make = (n) => failedPass(n);
const warned: Make = (n) => pass(n, WHOLE, { warnings: ['store-2 did not answer'] });

/**
 * MetricsAvailable after each of these passes, from a healthy state, and the events.
 * @param restart restarts the operator before the pass of this index
 */
function follow(passes: readonly Make[], restart = -1): string[] {
  let o: Observation = settled(anObservation({ now: NOW + 600_000 }));
  let [previous] = o.view.passes;
  return passes.map((make, index) => {
    const startedAt = NOW + 600_000 + (index + 1) * INTERVAL_MS;
    const newest = { ...make(index + 3), startedAt };
    const passes = previous === undefined || index === restart ? [newest] : [newest, previous];
    o = changed(o, { passes, now: startedAt + 500 });
    const told = eventsOf(o).filter(({ note }) => note.startsWith('MetricsAvailable'));
    const status = statusOf(o);
    const available = status.conditions?.find(({ type }) => type === 'MetricsAvailable');
    o = changed(o, { watch: { ...o.watch, status } });
    previous = newest;
    return `${available?.status ?? ''} ${available?.reason ?? ''}${told.length > 0 ? ', told' : ''}`;
  });
}

describe('MetricsAvailable', () => {
  it.each([
    {
      why: 'does not become True in between during an outage as long as the rate window',
      passes: [failed, failed, whole, partial, whole, whole, whole],
      found: [
        'False NoData, told',
        'False NoData',
        'False NoData',
        'False PartialData, told',
        'False PartialData',
        'True AllMeasured, told',
        'True AllMeasured',
      ],
    },
    {
      why: 'becomes True with the next pass after a problem of one pass',
      passes: [failed, whole, partial, whole],
      found: ['False NoData, told', 'True AllMeasured, told', 'False PartialData, told', 'True AllMeasured, told'],
    },
    {
      why: 'becomes False at once, also for a warning',
      passes: [warned, warned, whole, whole],
      found: ['False PartialData, told', 'False PartialData', 'False PartialData', 'True AllMeasured, told'],
    },
  ])('$why', ({ passes, found }) => {
    expect(follow(passes)).toEqual(found);
  });

  it('is unchanged after a restart until two passes agree', () => {
    expect(follow([whole, whole, whole], 1)).toEqual(['True AllMeasured', 'True AllMeasured', 'True AllMeasured']);
    expect(follow([partial, partial, whole, whole], 2)).toEqual([
      'False PartialData, told',
      'False PartialData',
      'False PartialData',
      'True AllMeasured, told',
    ]);
  });

  it('says that the next good pass makes it True', () => {
    const o = settled(anObservation({ now: NOW + 600_000 }));
    const late = NOW + 700_000;
    const before = statusOf(changed(o, { passes: [failedPass(3), failedPass(2)] }));
    const watch = { ...o.watch, status: before };
    const passes = [
      { ...pass(5, WHOLE), startedAt: late },
      { ...failedPass(4), startedAt: late - INTERVAL_MS },
    ];
    const after = statusOf(changed(o, { watch, passes, now: late }));
    expect(after.conditions?.find(({ type }) => type === 'MetricsAvailable')?.message).toBe(
      'all nodes have data again; waiting for one more measurement',
    );
  });
});
