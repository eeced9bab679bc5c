import { describe, expect, it } from 'vitest';
import type { ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { findCondition } from '../../../runtime/controller/conditions.ts';
import type { ServerView } from '../observe/observation.ts';
import { answered, checkWith, evaluation, finding, silent, T0 } from '../testing/scenes.ts';
import { decide, type Decision } from './decide.ts';

/** Decides one view of the server after the other, each `stepMs` later, from the status that was written before. */
function story(views: readonly ServerView[], stepMs = 5_000): Decision[] {
  let status: ConnectivityCheckStatus | undefined;
  return views.map((server, step) => {
    const decision = decide({ check: checkWith(status), server, now: T0 + step * stepMs });
    status = decision.write;
    return decision;
  });
}

const last = (views: readonly ServerView[], stepMs?: number): Decision => story(views, stepMs).at(-1)!;
const condition = ({ status }: Decision, type: string) => findCondition(status.conditions, type);
const HEALTHY = answered(evaluation());
const FAULT = answered(evaluation([finding()]));

describe('a first visit', () => {
  it('writes every condition as Unknown', () => {
    const { status } = last([{ hasAnswered: false }]);
    expect(status.verdict).toBe('Unknown');
    expect(status.conditions?.map(({ type, status: is, reason }) => [type, is, reason])).toEqual(
      ['Ready', 'Healthy', 'ServerReachable', 'AgentsReporting'].map((type) => [type, 'Unknown', 'Initializing']),
    );
  });
});

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
    expect(events).toEqual([{ type: 'Warning', reason: 'PodNetworkFailed', note: finding().message }]);
  });

  it('keeps since while it stays, and causes no more events', () => {
    const { status, events } = last([HEALTHY, FAULT, FAULT, FAULT]);
    expect(status.findings?.[0]?.since).toBe('2026-01-01T00:00:05Z');
    expect(events).toEqual([]);
  });

  it('that changes its severity is an event, and keeps since', () => {
    const { status, events } = last([FAULT, answered(evaluation([finding({ severity: 'Degraded' })]))]);
    expect(status).toMatchObject({ verdict: 'Degraded', findings: [{ since: '2026-01-01T00:00:00Z' }] });
    expect(events.map(({ reason }) => reason)).toEqual(['PodNetworkDegraded']);
  });

  it('that is gone ends its outage at once, with an event that has the duration', () => {
    const { status, events } = last([FAULT, FAULT, HEALTHY]);
    expect(status).toMatchObject({
      verdict: 'Healthy',
      findings: [],
      outages: [{ start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:10Z' }],
    });
    expect(status).not.toHaveProperty('summary');
    expect(events).toEqual([{ type: 'Normal', reason: 'FindingCleared', note: 'PodNetwork node2 is gone after 10s' }]);
  });

  it('that flaps is one outage; one that is back after a minute is another', () => {
    expect(last([FAULT, HEALTHY, FAULT]).status.outages).toEqual([
      { class: 'PodNetwork', subjects: ['node2'], start: '2026-01-01T00:00:00Z' },
    ]);
    const outages = last([FAULT, HEALTHY, FAULT], 60_000).status.outages;
    expect(outages?.map(({ start }) => start)).toEqual(['2026-01-01T00:02:00Z', '2026-01-01T00:00:00Z']);
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

describe('a server that does not answer', () => {
  it('is no finding after one failed ask, and is decided again after 5 s', () => {
    const { status, requeueAfterMs } = last([FAULT, silent(1, 1_000, evaluation([finding()]))]);
    expect(status.findings).toMatchObject([{ class: 'PodNetwork' }]);
    expect(requeueAfterMs).toBe(4_000);
  });

  it.each([
    ['two failed asks in a row', silent(2, 100, evaluation())],
    ['one failed ask 5 s ago', silent(1, 5_000, evaluation())],
  ])('is a finding after %s', (_why, view) => {
    const decision = last([HEALTHY, view]);
    expect(decision.status).toMatchObject({ verdict: 'Failed', summary: 'Server server' });
    expect(decision.events.map(({ reason }) => reason)).toEqual(['ServerFailed']);
    expect(condition(decision, 'ServerReachable')).toMatchObject({ status: 'False', reason: 'ServerUnreachable' });
    expect(condition(decision, 'AgentsReporting')).toMatchObject({ status: 'Unknown' });
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'False' });
  });

  it('leaves the other findings and the counts as they were last known, also after a restart', () => {
    const { status } = last([FAULT, silent(2), { hasAnswered: false }, silent(1), silent(2)]);
    expect(status.findings?.map(({ class: one, since }) => [one, since])).toEqual([
      ['Server', '2026-01-01T00:00:05Z'],
      ['PodNetwork', '2026-01-01T00:00:00Z'],
    ]);
    expect(status).toMatchObject({ agents: 6, reportingAgents: 6, observedGeneration: 1 });
    expect(status.outages).toHaveLength(2);
  });

  it('and never did is Unknown, and no finding for a minute: it may just have been deployed', () => {
    const early = last([silent(2), silent(13, 59_999)]);
    expect(early.status).toMatchObject({ verdict: 'Unknown', findings: [], outages: [] });
    expect(condition(early, 'ServerReachable')).toMatchObject({ status: 'False', reason: 'ServerUnreachable' });
    expect(last([silent(2), silent(14, 60_000)]).status).toMatchObject({
      verdict: 'Unknown',
      summary: 'Server server',
    });
  });

  it('and is back clears the finding', () => {
    const decision = last([HEALTHY, silent(2), HEALTHY]);
    expect(decision.status).toMatchObject({ verdict: 'Healthy', findings: [] });
    expect(decision.events.map(({ reason }) => reason)).toEqual(['FindingCleared']);
  });
});

describe('a spec that changed', () => {
  it('is Unknown until it was evaluated, if the server does not answer', () => {
    const before = last([HEALTHY]).write;
    const { status } = decide({ check: checkWith(before, 2), server: silent(2), now: T0 });
    expect(status).toMatchObject({ verdict: 'Unknown', observedGeneration: 1 });
  });

  it('does not count as evaluated, if the server has no evaluation of the check', () => {
    const decision = last([answered()]);
    expect(decision.status.verdict).toBe('Unknown');
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NotEvaluatedYet' });
    expect(condition(decision, 'ServerReachable')).toMatchObject({ status: 'True' });
  });
});

describe('agents', () => {
  it.each([
    [6, 6, 'Healthy', 'True', 'AllReporting'],
    [6, 5, 'Unknown', 'False', 'AgentsMissing'],
    [6, 0, 'Unknown', 'False', 'NoAgentReports'],
    [0, 0, 'Unknown', 'False', 'NoAgentReports'],
  ])('of %i of which %i report: %s', (agents, reportingAgents, verdict, status, reason) => {
    const decision = last([answered(evaluation([], { agents, reportingAgents }))]);
    expect(decision.status.verdict).toBe(verdict);
    expect(condition(decision, 'AgentsReporting')).toMatchObject({ status, reason });
  });

  it('that are missing are named, three at most', () => {
    const missing = ['a', 'b', 'c', 'd'].map((pod) =>
      finding({ class: 'Agent', subjects: [pod], severity: 'Degraded' }),
    );
    const decision = last([answered(evaluation(missing, { reportingAgents: 2 }))]);
    const message = '2 of 6 agents report; missing: a, b, c and 1 more.';
    expect(condition(decision, 'AgentsReporting')?.message).toBe(message);
  });
});

describe('a quiet period', () => {
  const measured = (lossPercent: number) =>
    answered(
      evaluation([finding({ message: `loss ${lossPercent} %`, evidence: { ...finding().evidence, lossPercent } })], {
        observedPairs: lossPercent,
      }),
    );
  const before = last([measured(10)]).write;
  const at = (server: ServerView, writtenAgoMs?: number) =>
    decide({ check: checkWith(before), server, now: T0 + 30_000, writtenAgoMs });

  it('writes nothing, whatever the time is', () => {
    expect(at(measured(10)).write).toEqual(before);
  });

  it('writes other figures after a minute, and after a start', () => {
    expect(at(measured(11), 59_999).write).toBe(before);
    expect(at(measured(11), 60_000).write.findings?.[0]?.message).toBe('loss 11 %');
    expect(at(measured(11)).write.findings?.[0]?.message).toBe('loss 11 %');
  });

  it('ends at once with another finding', () => {
    const findings = [finding(), finding({ class: 'DNS', subjects: ['cluster'] })];
    expect(at(answered(evaluation(findings)), 0).write.findings).toHaveLength(2);
  });
});
