import { describe, expect, it } from 'vitest';
import { MOST_UNOBSERVED } from '../../../../connectivity/protocol/evaluation.ts';
import { findCondition } from '../../../../runtime/controller/conditions.ts';
import type { ServerView } from '../../observe/observation.ts';
import { answered, checkWith, evaluation, finding, story, T0 } from '../../testing/scenes.ts';
import { decide, type Decision } from '../decide.ts';

const last = (views: readonly ServerView[], stepMs?: number): Decision => story(views, stepMs).at(-1)!;
const HEALTHY = answered(evaluation());
const FAULT = answered(evaluation([finding()]));

describe('a finding', () => {
  it('is shown at once, with since, an open outage, a summary and an event', () => {
    const { status, events } = last([HEALTHY, FAULT]);
    expect(status).toMatchObject({
      verdict: 'Failed',
      summary: 'PodNetwork node2',
      findings: [{ class: 'PodNetwork', since: '2026-01-01T00:00:05Z' }],
      outages: [{ class: 'PodNetwork', subjects: ['node2'], start: '2026-01-01T00:00:05Z' }],
    });
    expect(status.outages?.[0]).not.toHaveProperty('end');
    const note = 'PodNetwork node2 is Failed; status.findings has what was measured';
    expect(events).toEqual([{ type: 'Warning', reason: 'PodNetworkFailed', note }]);
  });

  it('and its outage have the same identifier, by which they are found when their subjects are shortened', () => {
    const { findings, outages } = last([FAULT]).status;
    expect(findings?.[0]?.id).toMatch(/^[0-9a-z]{7}$/);
    expect(outages?.[0]?.id).toBe(findings?.[0]?.id);
  });

  it('keeps since while it lasts, and causes no further events', () => {
    const { status, events } = last([HEALTHY, FAULT, FAULT, FAULT]);
    expect(status.findings?.[0]?.since).toBe('2026-01-01T00:00:05Z');
    expect(events).toEqual([]);
  });

  it('that changes its severity is an event, and keeps since', () => {
    const { status, events } = last([FAULT, answered(evaluation([finding({ severity: 'Degraded' })]))]);
    expect(status).toMatchObject({ verdict: 'Degraded', findings: [{ since: '2026-01-01T00:00:00Z' }] });
    expect(events.map(({ reason }) => reason)).toEqual(['PodNetworkDegraded']);
  });

  it('that is gone ends its outage at once, with an event', () => {
    const { status, events } = last([FAULT, FAULT, HEALTHY]);
    expect(status).toMatchObject({
      verdict: 'Healthy',
      findings: [],
      outages: [{ start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:10Z' }],
    });
    expect(status).not.toHaveProperty('summary');
    expect(events).toEqual([{ type: 'Normal', reason: 'FindingCleared', note: 'Finding cleared: PodNetwork node2' }]);
  });

  it('has events without figures, so that repeated ones are counted in one', () => {
    const measured = (loss: number) => answered(evaluation([finding({ message: `${loss} % lost` })]));
    const [, first, , second] = story([HEALTHY, measured(12), HEALTHY, measured(11)]);
    expect(first?.events).toEqual(second?.events);
  });

  it('that flaps is one outage, with since of its first start; one that is back after a minute is another', () => {
    const { status } = last([FAULT, HEALTHY, FAULT]);
    expect(status.outages).toMatchObject([{ class: 'PodNetwork', subjects: ['node2'], start: '2026-01-01T00:00:00Z' }]);
    expect(status.outages?.[0]).not.toHaveProperty('end');
    expect(status.findings?.[0]?.since).toBe('2026-01-01T00:00:00Z');
    const { outages, findings } = last([FAULT, HEALTHY, FAULT], 60_000).status;
    expect(outages?.map(({ start }) => start)).toEqual(['2026-01-01T00:02:00Z', '2026-01-01T00:00:00Z']);
    expect(findings?.[0]?.since).toBe('2026-01-01T00:02:00Z');
  });

  it('that the list leaves out is neither cleared nor ended', () => {
    const full = answered({ ...evaluation([finding({ subjects: ['node1'] })]), omittedFindings: 1 });
    const { status, events } = last([FAULT, full]);
    expect(events.map(({ reason }) => reason)).toEqual(['PodNetworkFailed']);
    expect(status.outages?.filter(({ end }) => end === undefined)).toHaveLength(2);
    expect(status.summary).toBe('PodNetwork node1 (+1)');
  });

  it('makes ten events at most and one that counts the others', () => {
    const many = Array.from({ length: 12 }, (_, n) => finding({ subjects: [`node${n}`] }));
    const { events } = last([HEALTHY, answered(evaluation(many))]);
    expect(events).toHaveLength(11);
    expect(events.at(-1)).toMatchObject({ type: 'Warning', reason: 'MoreFindings', note: /^2 more/ });
  });
});

it('a finding and an outage that an operator with a clock ahead has dated are not longer than they are here', () => {
  const ahead = '2026-01-01T02:00:00Z';
  const [{ status }] = story([FAULT]) as [Decision];
  const open = {
    ...status,
    findings: [{ ...status.findings![0]!, since: ahead }],
    outages: [{ ...status.outages![0]!, start: ahead }],
  };
  const was = { ...status, findings: [], outages: [{ ...status.outages![0]!, start: ahead, end: ahead }] };
  const at = (before: typeof status, server: ServerView, atMs: number) =>
    decide({ check: checkWith(before), server, history: new Map(), now: T0 + atMs }).write;
  expect(at(open, FAULT, 5_000)).toMatchObject({
    findings: [{ since: '2026-01-01T00:00:05Z' }],
    outages: [{ start: '2026-01-01T00:00:05Z' }],
  });
  const seen = at(was, HEALTHY, 5_000);
  expect(seen.outages).toMatchObject([{ start: '2026-01-01T00:00:05Z', end: '2026-01-01T00:00:05Z' }]);
  expect(at(seen, FAULT, 66_000).outages).toHaveLength(2);
});

describe('a node that is left out', () => {
  const without = (reason: 'NotReady' | 'Cordoned', lasting?: ReturnType<typeof finding>[]) =>
    answered({ ...evaluation(), excluded: [{ node: 'node2', reason }], ...(lasting && { lasting }) });

  it('is named by the event that clears its finding, with the reason', () => {
    const link = answered(evaluation([finding({ class: 'Link', subjects: ['node1 -> node2'] })]));
    expect(last([FAULT, without('NotReady')]).events.map(({ note }) => note)).toEqual([
      'PodNetwork node2 is no longer checked; left out: node2: NotReady',
    ]);
    expect(last([link, without('Cordoned')]).events.map(({ note }) => note)).toEqual([
      'Link node1 -> node2 is no longer checked; left out: node2: Cordoned',
    ]);
  });

  it('keeps its finding while its kubelet is silent and others still measure the fault', () => {
    const changed = finding({ message: 'still' });
    const { status, events } = last([FAULT, without('NotReady', [changed])]);
    expect(status).toMatchObject({
      verdict: 'Failed',
      findings: [{ subjects: ['node2'], message: 'still', since: '2026-01-01T00:00:00Z' }],
    });
    expect(status.outages?.[0]).not.toHaveProperty('end');
    expect(events).toEqual([]);
  });

  it('gets no new finding by that', () => {
    expect(last([HEALTHY, without('NotReady', [finding()])]).status.findings).toEqual([]);
  });
});

describe('a finding that nothing measures any longer', () => {
  const without = (change: object, counts = {}) => answered({ ...evaluation([], counts), ...change });
  const NO_PAIRS = { observedPairs: 0, excludedNodes: 3 };
  const KEPT = { findings: [{ subjects: ['node2'], since: '2026-01-01T00:00:00Z' }] };
  const kept = ({ status, events }: Decision): void => {
    expect(status).toMatchObject(KEPT);
    expect(status.outages?.[0]).not.toHaveProperty('end');
    expect(events).toEqual([]);
  };

  it('stays while no pair is observed, and is cleared by the first measurement', () => {
    const [, unknown, cleared] = story([FAULT, without({}, NO_PAIRS), HEALTHY]);
    kept(unknown!);
    expect(unknown?.status).toMatchObject({
      verdict: 'Unknown',
      summary: 'PodNetwork node2, not measured',
      findings: [{ unmeasuredSince: '2026-01-01T00:00:05Z' }],
    });
    expect(cleared?.events.map(({ note }) => note)).toEqual(['Finding cleared: PodNetwork node2']);
  });

  it('is cleared if nodes that are left out show that it is over, and stays while they show it', () => {
    const lasts = without({ lasting: [finding()], lastingPairs: 12 }, NO_PAIRS);
    const [, still, over] = story([FAULT, lasts, without({ lasting: [], lastingPairs: 12 }, NO_PAIRS)]);
    kept(still!);
    expect(over?.status).toMatchObject({ verdict: 'Unknown', findings: [] });
  });

  it('stays while its node has no pair on its network, although others have', () => {
    const unobserved = [{ node: 'node2', plane: 'Pod' }];
    const decision = last([FAULT, without({ unobserved }), without({ unobserved })]);
    kept(decision);
    expect(decision.status).toMatchObject({
      verdict: 'Unknown',
      findings: [{ unmeasuredSince: '2026-01-01T00:00:05Z' }],
    });
    const message = 'Not measured since 2026-01-01T00:00:05Z: pod network of node2: 2 of 2 pairs fail';
    expect(findCondition(decision.status.conditions, 'Healthy')).toMatchObject({ reason: 'NotMeasured', message });
    expect(last([FAULT, without({ unobserved }), FAULT]).status.findings?.[0]).not.toHaveProperty('unmeasuredSince');
    const other = without({
      unobserved: [
        { node: 'node2', plane: 'Host' },
        { node: 'node3', plane: 'Pod' },
      ],
    });
    expect(last([FAULT, other]).status.findings).toEqual([]);
  });

  it('stays while its network has no agents, or the list of places may lack it', () => {
    kept(last([FAULT, without({ unmeasured: [{ plane: 'Pod' }] })]));
    expect(last([FAULT, without({ unmeasured: [{ plane: 'Host' }] })]).status.findings).toEqual([]);
    const many = (count: number) => Array.from({ length: count }, (_, n) => ({ node: `m${n}`, plane: 'Pod' }));
    kept(last([FAULT, without({ unobserved: many(MOST_UNOBSERVED) })]));
    expect(last([FAULT, without({ unobserved: many(MOST_UNOBSERVED - 1) })]).status.findings).toEqual([]);
  });

  it('comes after findings that are measured, which alone count in the verdict', () => {
    const other = finding({ class: 'Link', subjects: ['node1 -> node3'], severity: 'Degraded' });
    const both = answered({ ...evaluation([other]), unobserved: [{ node: 'node2', plane: 'Pod' as const }] });
    const { status } = last([FAULT, both]);
    expect(status.findings?.map(({ class: one }) => one)).toEqual(['Link', 'PodNetwork']);
    expect(status).toMatchObject({ verdict: 'Degraded', summary: 'Link node1 -> node3 (+1)' });
  });

  describe('of a service', () => {
    const evidence = { affectedPairs: 0, observedPairs: 0, pairs: [] };
    const of = (one: 'DNS' | 'APIServer' | 'Node', subject = 'node2') =>
      answered(evaluation([finding({ class: one, subjects: [subject], evidence })]));
    const isKept = (first: ServerView, then: ServerView) => last([first, then]).status.findings?.length === 1;

    it.each([
      ['DNS', 'DNSUDP', 'APIServer'],
      ['DNS', 'DNSTCP', 'Kubelet'],
      ['APIServer', 'APIServer', 'DNSUDP'],
      ['Node', 'Kubelet', 'DNSUDP'],
    ] as const)('%s stays while its node has no result of %s, and not of %s', (one, target, other) => {
      const at = (node: string, unasked: string) => without({ unasked: [{ node, target: unasked }] });
      expect(isKept(of(one), at('node2', target))).toBe(true);
      expect(isKept(of(one), at('node2', other))).toBe(false);
      expect(isKept(of(one), at('node1', target))).toBe(false);
    });

    it('that all nodes lack stays while no node asks it', () => {
      expect(isKept(of('DNS', 'cluster'), without({ unmeasured: [{ of: 'DNSUDP' }, { of: 'DNSTCP' }] }))).toBe(true);
      expect(isKept(of('DNS', 'cluster'), without({ unmeasured: [{ of: 'APIServer' }] }))).toBe(false);
    });

    it('is cleared by an answer, although no pair of nodes is measured', () => {
      expect(isKept(of('DNS'), without({}, NO_PAIRS))).toBe(false);
      expect(isKept(of('Node'), without({ unobserved: [{ node: 'node2', plane: 'Host' }] }))).toBe(false);
    });
  });
});

describe('a Degraded finding that comes and goes', () => {
  const LOSS = answered(evaluation([finding({ severity: 'Degraded' })]));
  const TWICE_BACK = [LOSS, HEALTHY, LOSS, HEALTHY, LOSS];
  const minutes = (count: number) => Array.from({ length: count }, () => HEALTHY);

  it('is cleared at once as long as it was back but once', () => {
    expect(last([LOSS, HEALTHY, LOSS, HEALTHY]).status.findings).toEqual([]);
  });

  it('stays after it was back twice, without a write or an event', () => {
    const { status, events } = last([...TWICE_BACK, HEALTHY, LOSS, HEALTHY]);
    expect(status).toMatchObject({ verdict: 'Degraded', findings: [{ since: '2026-01-01T00:00:00Z' }] });
    expect(events).toEqual([]);
  });

  it('is cleared ten minutes after it was found for the last time', () => {
    expect(last([...TWICE_BACK, ...minutes(10)], 60_000).status.verdict).toBe('Degraded');
    const { status, events } = last([...TWICE_BACK, ...minutes(11)], 60_000);
    expect(status.verdict).toBe('Healthy');
    expect(events.map(({ reason }) => reason)).toEqual(['FindingCleared']);
  });

  it('is one outage, also with minutes between', () => {
    expect(last([LOSS, ...minutes(9), LOSS], 60_000).status.outages).toHaveLength(1);
    expect(last([LOSS, ...minutes(11), LOSS], 60_000).status.outages).toHaveLength(2);
  });

  it('is cleared at once when its node is left out', () => {
    const drained = answered({ ...evaluation(), excluded: [{ node: 'node2', reason: 'Cordoned' }] });
    expect(last([...TWICE_BACK, drained]).status.findings).toEqual([]);
  });

  it('explains a smaller Degraded one that is new, but none that is Failed or elsewhere', () => {
    const node = finding({ class: 'Node', severity: 'Degraded' });
    const whole = answered(evaluation([node]));
    const part = finding({ severity: 'Degraded' });
    const before = [whole, HEALTHY, whole, HEALTHY, whole];
    const classes = (found: ReturnType<typeof finding>) =>
      last([...before, answered(evaluation([found]))], 60_000).status.findings?.map(
        ({ class: one, subjects }) => `${one} ${subjects.join()}`,
      );
    expect(classes(part)).toEqual(['Node node2']);
    expect(classes({ ...part, class: 'Link', subjects: ['node1 -> node2'] })).toEqual(['Node node2']);
    expect(classes({ ...part, subjects: ['node3'] })).toEqual(['Node node2', 'PodNetwork node3']);
    expect(classes(finding())).toEqual(['PodNetwork node2', 'Node node2']);
  });
});

describe('a Degraded finding while another fault begins and ends', () => {
  const LOSS = answered(evaluation([finding({ severity: 'Degraded' })]));
  const of = (over: Parameters<typeof finding>[0]) => answered(evaluation([finding(over)]));
  const ZONE = of({ class: 'Zone', subjects: ['zone-a <-> zone-b'] });
  const found = (views: readonly ServerView[], stepMs?: number) =>
    last(views, stepMs).status.findings?.map(({ class: one, subjects }) => `${one} ${subjects.join()}`);
  /** Loss, and then a fault whose first and last reports show some of it. */
  const whileFailing = (fault: ServerView) => [LOSS, LOSS, HEALTHY, LOSS, fault, fault, LOSS, HEALTHY];

  it.each([
    ['zones', ZONE],
    ['a zone', of({ class: 'Zone', subjects: ['zone-b'] })],
    ['all nodes', of({ subjects: ['cluster'] })],
    ['its node', of({ class: 'Node' })],
  ])('does not count as intermittent if the fault is of %s', (_, fault) => {
    expect(found(whileFailing(fault))).toEqual([]);
  });

  it('counts as intermittent if the fault is elsewhere, of a link or of a service', () => {
    expect(found(whileFailing(of({ subjects: ['node3'] })))).toEqual(['PodNetwork node2']);
    expect(found(whileFailing(of({ class: 'Link', subjects: ['node1 -> node2'] })))).toEqual(['PodNetwork node2']);
    expect(found(whileFailing(of({ class: 'DNS', subjects: ['node3'] })))).toEqual(['PodNetwork node2']);
  });

  it('does not count as intermittent if it is the fault itself, which comes and goes', () => {
    const partial = of({ class: 'Zone', subjects: ['zone-a <-> zone-b'], severity: 'Degraded' });
    const once = [partial, ZONE, ZONE, partial, HEALTHY];
    expect(found([...once, ...once, ...once])).toEqual([]);
  });

  it('stays if it came and went before that, as loss close to the threshold does', () => {
    const before = [LOSS, HEALTHY, LOSS, HEALTHY, LOSS];
    expect(found([...before, ZONE, HEALTHY], 60_000)).toEqual(['PodNetwork node2']);
  });

  it('counts again when the fault is over for two intervals', () => {
    const again = [HEALTHY, LOSS, HEALTHY, LOSS, HEALTHY, LOSS, HEALTHY];
    expect(found([LOSS, ZONE, ...again], 45_000)).toEqual(['PodNetwork node2']);
    expect(found([LOSS, ZONE, ...again], 5_000)).toEqual([]);
  });
});
