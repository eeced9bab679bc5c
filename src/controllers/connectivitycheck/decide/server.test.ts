import { describe, expect, it } from 'vitest';
import { findCondition } from '../../../runtime/controller/conditions.ts';
import type { ServerView } from '../observe/observation.ts';
import { answered, checkWith, evaluation, finding, NOT_ASKED, silent, story, T0 } from '../testing/scenes.ts';
import { decide, type Decision } from './decide.ts';

const last = (views: readonly ServerView[], stepMs?: number): Decision => story(views, stepMs).at(-1)!;
const condition = ({ status }: Decision, type: string) => findCondition(status.conditions, type);
const states = ({ status }: Decision) => status.conditions?.map(({ type, status: is }) => `${type} ${is}`);
const EVALUATED = evaluation([finding()]);
const HEALTHY = answered(evaluation());
const FAULT = answered(EVALUATED);
const NOT_DEPLOYED: ServerView = { isDeployed: false, hasAnswered: false };

describe('a server that does not answer', () => {
  it('is nothing after one failed ask, and is decided again after 5 s', () => {
    const decision = last([FAULT, silent(1, 2_000, EVALUATED)]);
    expect(decision.status.findings).toMatchObject([{ class: 'PodNetwork' }]);
    expect(condition(decision, 'ServerReachable')).toMatchObject({ status: 'True' });
    expect(decision.requeueAfterMs).toBe(4_000);
  });

  it.each([
    ['two failed asks in a row', silent(2, 3_000, EVALUATED)],
    ['one failed ask 5 s ago', silent(1, 6_000, EVALUATED)],
  ])('is unreachable after %s, which is no finding yet', (_why, view) => {
    const decision = last([FAULT, view]);
    expect(condition(decision, 'ServerReachable')).toMatchObject({ status: 'False', reason: 'ServerUnreachable' });
    expect(decision.status).toMatchObject({ verdict: 'Failed', summary: 'PodNetwork node2' });
    expect(decision.status.outages).toHaveLength(1);
    expect(decision.events).toEqual([]);
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'True' });
  });

  it('is a finding after two intervals, which are 30 s by default', () => {
    expect(last([HEALTHY, silent(9, 29_999, evaluation())]).status.findings).toEqual([]);
    const decision = last([HEALTHY, silent(9, 30_000, evaluation())]);
    expect(decision.status).toMatchObject({ verdict: 'Failed', summary: 'Server server' });
    expect(decision.events.map(({ reason }) => reason)).toEqual(['ServerFailed']);
    expect(condition(decision, 'ServerReachable')).toMatchObject({ status: 'False', reason: 'ServerUnreachable' });
    expect(condition(decision, 'AgentsReporting')).toMatchObject({ status: 'Unknown' });
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'False' });
  });

  it.each([
    ['5s', 10_000],
    ['1m', 120_000],
    ['1h', 120_000],
  ])('with an interval of %s is a finding after %i ms', (interval, limitMs) => {
    const status = last([HEALTHY]).write;
    const of = (silentMs: number) => {
      const check = { ...checkWith(status), spec: { interval } };
      return decide({ check, server: silent(9, silentMs, evaluation()), history: new Map(), now: T0 });
    };
    expect(of(limitMs - 1).status.summary).toBeUndefined();
    expect(of(limitMs - 1).requeueAfterMs).toBe(1);
    expect(of(limitMs).status.summary).toBe('Server server');
  });

  it('and is back within this time was no finding, no event and no outage', () => {
    const decisions = story([HEALTHY, silent(4, 20_000, evaluation()), HEALTHY]);
    expect(decisions.flatMap(({ events }) => events)).toEqual([]);
    expect(decisions.at(-1)?.status.outages).toEqual([]);
  });

  it('and never did is no finding, since it is being deployed', () => {
    for (const first of [[], [NOT_ASKED]]) {
      const decision = last([...first, silent(9, 600_000)]);
      expect(decision.status).toMatchObject({ verdict: 'Unknown', findings: [], outages: [] });
      expect(decision.events).toEqual([]);
      expect(condition(decision, 'ServerReachable')).toMatchObject({ status: 'False', reason: 'ServerUnreachable' });
      expect(condition(decision, 'Ready')).toMatchObject({ status: 'False', reason: 'ServerUnreachable' });
    }
  });

  it('and did not yet leaves Ready as it was never known', () => {
    const decision = last([NOT_ASKED, silent(2, 3_000)]);
    expect(states(decision)).toEqual([
      'Ready Unknown',
      'Healthy Unknown',
      'ServerReachable False',
      'AgentsReporting Unknown',
    ]);
  });

  it('leaves the other findings and the counts as they were last known, also after a restart', () => {
    const { status } = last([FAULT, silent(9), NOT_ASKED, silent(1, 0), silent(2, 3_000), silent(9)]);
    expect(status.findings?.map(({ class: one, since }) => [one, since])).toEqual([
      ['Server', '2026-01-01T00:00:05Z'],
      ['PodNetwork', '2026-01-01T00:00:00Z'],
    ]);
    expect(status).toMatchObject({ agents: 6, reportingAgents: 6, observedGeneration: 1 });
    expect(status.outages).toHaveLength(2);
  });

  it('and starts again without an evaluation clears only its own finding', () => {
    const { status, events } = last([FAULT, silent(9), answered()]);
    expect(status.findings?.map(({ class: one, since }) => [one, since])).toEqual([
      ['PodNetwork', '2026-01-01T00:00:00Z'],
    ]);
    expect(status).toMatchObject({ verdict: 'Failed', agents: 6, reportingAgents: 6 });
    expect(events.map(({ note }) => note)).toEqual(['Finding cleared: Server server']);
  });

  it('is a finding in addition to the last known finding that agents do not report', () => {
    const reports = finding({ class: 'Server', subjects: ['reports'], message: '6 of 6 agents do not report' });
    const before = answered(evaluation([reports]));
    const decisions = story([before, silent(9), answered(), before]);
    const shown = decisions.map(({ status: { findings } }) =>
      findings?.map(({ subjects, since }) => `${subjects.join()} ${since.slice(14, 19)}`),
    );
    expect(shown).toEqual([['reports 00:00'], ['server 00:05', 'reports 00:00'], ['reports 00:00'], ['reports 00:00']]);
    expect(decisions.map(({ events }) => events.map(({ note }) => note))).toEqual([
      ['Server reports is Failed; status.findings has what was measured'],
      ['Server server is Failed; status.findings has what was measured'],
      ['Finding cleared: Server server'],
      [],
    ]);
    expect(decisions.at(-1)?.status.outages?.map(({ subjects, end }) => [subjects.join(), end === undefined])).toEqual([
      ['server', false],
      ['reports', true],
    ]);
  });

  it('and is back clears the finding', () => {
    const decision = last([HEALTHY, silent(9), HEALTHY]);
    expect(decision.status).toMatchObject({ verdict: 'Healthy', findings: [] });
    expect(decision.events.map(({ reason }) => reason)).toEqual(['FindingCleared']);
  });
});

describe('a restart of the operator', () => {
  it.each([
    ['works', [FAULT]],
    ['is down', [FAULT, silent(9)]],
    ['never answered', [NOT_ASKED, silent(9)]],
  ])('changes nothing while the server %s and was not asked, nor after the first failed asks', (_what, views) => {
    const before = last(views).write;
    for (const again of [NOT_ASKED, silent(1, 0)]) {
      const { write } = decide({ check: checkWith(before), server: again, history: new Map(), now: T0 + 60_000 });
      expect(write).toEqual(before);
    }
  });

  it('while the server is down keeps Ready, Healthy and the verdict at the first failed asks', () => {
    const before = last([FAULT, silent(9)]);
    const { status } = decide({
      check: checkWith(before.write),
      server: silent(2, 3_000),
      history: new Map(),
      now: T0 + 60_000,
    });
    expect(status.conditions?.map(({ type, status: is, reason }) => [type, is, reason])).toEqual(
      before.status.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    );
    expect(status).toMatchObject({ verdict: 'Failed', summary: 'Server server (+1)' });
  });
});

describe('a restart of the operator while answers lack the check', () => {
  it('keeps the verdict Unknown, also if the server does not answer then', () => {
    expect(last([HEALTHY, answered(undefined, 70_000), NOT_ASKED, silent(2, 3_000)]).status.verdict).toBe('Unknown');
  });
});

describe('a connectivity check that is switched off', () => {
  const decision = last([FAULT, silent(9), NOT_DEPLOYED]);

  it('leaves no finding, and ends the outages', () => {
    expect(decision.status).toMatchObject({ verdict: 'Unknown', findings: [] });
    expect(decision.status).not.toHaveProperty('summary');
    expect(decision.status).not.toHaveProperty('agents');
    expect(decision.status.outages?.map(({ end }) => end)).toEqual(['2026-01-01T00:00:10Z', '2026-01-01T00:00:10Z']);
    expect(decision.events.map(({ note }) => note)).toEqual([
      'Server server is no longer checked',
      'PodNetwork node2 is no longer checked',
    ]);
  });

  it('says so in every condition, and is not Ready', () => {
    expect(states(decision)).toEqual([
      'Ready False',
      'Healthy Unknown',
      'ServerReachable Unknown',
      'AgentsReporting Unknown',
    ]);
    expect(new Set(decision.status.conditions?.map(({ reason }) => reason))).toEqual(new Set(['NotDeployed']));
  });

  it('and on again is as new: a server that has not answered yet is no finding', () => {
    const again = last([FAULT, NOT_DEPLOYED, NOT_ASKED, silent(9)]);
    expect(again.status).toMatchObject({ verdict: 'Unknown', findings: [] });
    expect(condition(again, 'Ready')).toMatchObject({ status: 'False', reason: 'ServerUnreachable' });
    expect(last([FAULT, NOT_DEPLOYED, NOT_ASKED, HEALTHY]).status.verdict).toBe('Healthy');
  });
});
