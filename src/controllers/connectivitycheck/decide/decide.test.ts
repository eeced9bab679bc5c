import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';
import { findCondition } from '../../../runtime/controller/conditions.ts';
import type { ServerView } from '../observe/observation.ts';
import { answered, checkWith, evaluation, finding, NOT_ASKED, silent, story, T0 } from '../testing/scenes.ts';
import { decide, type Decision } from './decide.ts';

const last = (views: readonly ServerView[], stepMs?: number): Decision => story(views, stepMs).at(-1)!;
const condition = ({ status }: Decision, type: string) => findCondition(status.conditions, type);
const HEALTHY = answered(evaluation());
const FAULT = answered(evaluation([finding()]));
const HISTORY = new Map();

describe('a first visit', () => {
  it('writes every condition as Unknown', () => {
    const { status } = last([NOT_ASKED]);
    expect(status.verdict).toBe('Unknown');
    expect(status.conditions?.map(({ type, status: is, reason }) => [type, is, reason])).toEqual(
      ['Ready', 'Healthy', 'ServerReachable', 'AgentsReporting'].map((type) => [type, 'Unknown', 'Initializing']),
    );
  });
});

describe('a spec that changed', () => {
  it('is Unknown until it was evaluated, if the server does not answer', () => {
    const before = last([HEALTHY]).write;
    const server = silent(2);
    const { status } = decide({ check: checkWith(before, 2), server, history: HISTORY, now: T0 });
    expect(status).toMatchObject({ verdict: 'Unknown', observedGeneration: 1 });
  });

  it('does not count as evaluated, if the server has no evaluation of the check', () => {
    const decision = last([answered()]);
    expect(decision.status.verdict).toBe('Unknown');
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NotEvaluatedYet' });
    expect(condition(decision, 'ServerReachable')).toMatchObject({ status: 'True' });
  });
});

describe('a server that answers without the check', () => {
  it('leaves everything as it was while a server may be starting, and asks for a decision then', () => {
    const decision = last([HEALTHY, answered(undefined, 69_000)]);
    expect(decision.status.verdict).toBe('Healthy');
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'True' });
    expect(decision.requeueAfterMs).toBe(1_000);
  });

  it.each([
    ['after that', [HEALTHY, answered(undefined, 70_000)]],
    ['after that, whatever was found', [FAULT, answered(undefined, 70_000)]],
    ['still after a restart of the operator', [HEALTHY, answered(undefined, 70_000), NOT_ASKED, answered()]],
  ])('is not Ready %s, and the verdict is Unknown', (_when, views) => {
    const decision = last(views);
    expect(decision.status.verdict).toBe('Unknown');
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'False', reason: 'NotEvaluatedYet' });
    expect(condition(decision, 'Healthy')).toMatchObject({ status: 'Unknown', reason: 'NotEvaluatedYet' });
    expect(condition(decision, 'AgentsReporting')).toMatchObject({ status: 'Unknown', reason: 'NotEvaluatedYet' });
  });

  it('is Ready with the next evaluation', () => {
    expect(last([HEALTHY, answered(undefined, 70_000), HEALTHY]).status.verdict).toBe('Healthy');
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

describe('a check without a pair of two nodes', () => {
  const NO_PAIRS = { observedPairs: 0, excludedNodes: 2 };

  it('is Unknown and not Ready, and says why', () => {
    const decision = last([answered(evaluation([], NO_PAIRS))]);
    expect(decision.status.verdict).toBe('Unknown');
    const message =
      'No pair of two nodes is measured: 2 of 3 nodes are left out, see status.excluded. Findings stay until their nodes are measured again.';
    expect(condition(decision, 'Healthy')).toMatchObject({ status: 'Unknown', reason: 'NoPairsObserved', message });
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'False', reason: 'NoPairsObserved' });
    expect(condition(decision, 'AgentsReporting')).toMatchObject({ status: 'True' });
  });

  it('is Failed if something else fails for certain, also without an answer', () => {
    const dns = answered(evaluation([finding({ class: 'DNS', subjects: ['node1'] })], NO_PAIRS));
    expect(last([dns]).status.verdict).toBe('Failed');
    expect(last([answered(evaluation([], NO_PAIRS)), silent(2)]).status.verdict).toBe('Failed');
  });

  it('of one node is Healthy: it has no pairs', () => {
    expect(last([answered(evaluation([], { nodes: 1, observedPairs: 0 }))]).status.verdict).toBe('Healthy');
  });

  it('stays Unknown while the server starts', () => {
    const views = [FAULT, answered(evaluation([], NO_PAIRS)), answered()];
    expect(last(views).status).toMatchObject({ verdict: 'Unknown', findings: [{ subjects: ['node2'] }] });
  });
});

describe('a check of which a part has no result', () => {
  const part = (...unmeasured: NonNullable<Evaluation['unmeasured']>[number][]) =>
    answered({ ...evaluation(), unmeasured });

  it.each([
    [{ plane: 'Host' }, 'host network'],
    [{ plane: 'Pod', of: 'IPv6' }, 'IPv6 of the pod network'],
    [{ plane: 'Pod', of: 'MTU' }, 'packet size of the pod network'],
    [{ of: 'DNSTCP' }, 'DNS over TCP'],
    [{ of: 'APIServer' }, 'Service of the API server'],
    [{ of: 'New' }, 'New'],
    [{ plane: 'Pod', of: 'Nodes', node: 'node2', count: 1 }, 'pod network of node2'],
    [{ plane: 'Host', of: 'Nodes', node: 'node2', count: 2 }, 'host network of node2 and 1 other node'],
    [{ plane: 'Host', of: 'Nodes', node: 'node2', count: 3 }, 'host network of node2 and 2 other nodes'],
  ] as const)('is Unknown and not Ready, and names it: %j', (unmeasured, name) => {
    const decision = last([HEALTHY, part(unmeasured)]);
    expect(decision.status).toMatchObject({ verdict: 'Unknown', unmeasured: [name] });
    const message = `No agent has measured: ${name}. Check the DaemonSets and logs of the agents, or take the part out of spec.planes or spec.probes.`;
    expect(condition(decision, 'Healthy')).toMatchObject({ status: 'Unknown', reason: 'NotMeasured', message });
    expect(condition(decision, 'Ready')).toMatchObject({ status: 'False', reason: 'NotMeasured' });
  });

  it('stays Unknown while the server starts, and is Healthy once the part is measured', () => {
    const views = [part({ plane: 'Host' }, { of: 'DNSUDP' }), answered(), HEALTHY];
    const [, starting, measured] = story(views);
    expect(starting?.status).toMatchObject({ verdict: 'Unknown', unmeasured: ['host network', 'DNS over UDP'] });
    expect(measured?.status.verdict).toBe('Healthy');
    expect(measured?.status).not.toHaveProperty('unmeasured');
  });

  it('is Failed by a finding of another part', () => {
    expect(last([answered({ ...FAULT.evaluation!, unmeasured: [{ plane: 'Host' }] })]).status.verdict).toBe('Failed');
  });
});

it('the status has each count of the evaluation, also the number of agents that report without a token', () => {
  const counts = { nodes: 8, excludedNodes: 2, agents: 7, reportingAgents: 6 };
  const all = { ...counts, anonymousAgents: 5, observedPairs: 4, affectedPairs: 3, unobservedNetworks: 2 };
  const excluded = [{ node: 'node8', reason: 'Cordoned' as const }];
  const { status } = last([answered({ ...evaluation([], all), excluded })]);
  expect(status).toMatchObject({ ...all, excluded });
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
    decide({ check: checkWith(before), server, history: HISTORY, now: T0 + 30_000, writtenAgoMs });

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
