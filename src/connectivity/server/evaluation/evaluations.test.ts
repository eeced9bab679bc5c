import { beforeEach, describe, expect, it } from 'vitest';
import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { toAgentPod } from '../pods/agentPod.ts';
import { Measurements } from '../reports/measurements.ts';
import { Reports } from '../reports/reports.ts';
import { toClusterNode } from '../view/clusterNode.ts';
import type { ClusterCaches } from './caches.ts';
import { Connectivity } from './evaluations.ts';

const CHECK: ConnectivityCheck = { metadata: { name: 'all', generation: 1 }, spec: { planes: ['Pod'] } };
const REPORT = { report_interval: 60, nodename: 'n1', podname: 'a' };
const POD = toAgentPod({
  metadata: { name: 'a', labels: { app: 'netchecker-agent' } },
  spec: { nodeName: 'n1', containers: [] },
  status: { phase: 'Running' },
});

const cacheOf = (...objects: object[]) => ({
  synced: true,
  refusal: undefined,
  lister: { list: () => objects },
  subscribe: () => () => undefined,
});

describe('the evaluation of a check', () => {
  let clock: FakeClock;
  let reports: Reports;
  let connectivity: Connectivity;

  beforeEach(() => {
    clock = new FakeClock();
    reports = new Reports(clock);
    const node = toClusterNode({
      metadata: { name: 'n1' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    const caches = { nodes: cacheOf(node), pods: cacheOf(POD), checks: cacheOf(CHECK) } as unknown as ClusterCaches;
    connectivity = new Connectivity({
      caches,
      reports,
      measurements: new Measurements(clock),
      clock,
      reportIntervalMs: 60_000,
    });
  });

  it.each([
    ['came with a token', false, 0],
    ['came without one', true, 1],
  ])('counts an agent whose stored report %s, right after a restart', (_, anonymous, anonymousAgents) => {
    reports.restore({ report: REPORT, reportCount: 1, errorCount: 0, anonymous });
    expect(connectivity.evaluations().all?.counts).toMatchObject({ reportingAgents: 1, anonymousAgents });
  });
});
