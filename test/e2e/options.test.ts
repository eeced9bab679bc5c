import { fileURLToPath } from 'node:url';
import type { V1Deployment } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from 'vitest';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { uidOf } from '../../dashboards/dashboard.ts';
import { panelQueries, type PanelQuery } from '../../dashboards/queries.ts';
import { measured, seconds } from '../harness/measured.ts';
import { within } from '../harness/slack.ts';
import { writesSince } from '../scenario/audit.ts';
import { helmInstall, helmRollback, helmUninstall, helmUpgrade } from '../scenario/install.ts';
import { NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import {
  installOtherMonitoring,
  nodeAddresses,
  OTHER_PROMETHEUS,
  otherMonitoringReady,
} from '../scenario/monitoring.ts';
import { labels as labelsByNode, ownLabels } from '../scenario/nodeLabels.ts';
import { ask, askOverTime } from '../scenario/prometheus.ts';
import { check, isHealthy } from '../scenario/connectivity.ts';
import { operatorRules, rightsOf, rightsUsed, unusedRights } from '../scenario/rights.ts';
import { createMetricsCertificate, createScrapers, scrape } from '../scenario/secureMetrics.ts';
import { targetReasons, watchesOfMissingTargets } from '../scenario/targets.ts';
import { applyWatch, podUids } from '../scenario/watch.ts';
import { enterLab, leaveLab } from './storyLab/storyLab.ts';

/**
 * What a careful admin does with the chart, on real pods: every option on, back again, and the dashboards looked at. Without stacks, whose
 * rights include others of the operator, and would hide that one of these is missing.
 */
const NO_STACKS = { enabled: false };
const LABEL = 'web.traffic.example.com/unfit';
const LABELS = ['false', 'true', 'false'];
const MONITORING_CRDS = ['servicemonitors', 'prometheusrules'].map((plural) =>
  fileURLToPath(new URL(`../chart/testdata/monitoring.coreos.com_${plural}.yaml`, import.meta.url)),
);
const EVERYTHING_ON = {
  stacks: NO_STACKS,
  interval: '5s',
  logLevel: 'debug',
  metrics: { secure: true, certSecret: 'metrics-tls', serviceMonitor: { enabled: true } },
  prometheusRule: { enabled: true },
  networkPolicy: { enabled: true },
  dashboards: { enabled: true },
  nodePolicy: { enabled: true },
  connectivity: { enabled: true },
  commonLabels: { team: 'network' },
  priorityClassName: 'system-cluster-critical',
  tolerations: [{ operator: 'Exists' }],
};
/** For an event that happens again within ten minutes. */
const BY_CHANCE = 'patch events.events.k8s.io';
/** Where the admission plugin OwnerReferencesPermissionEnforcement is on. */
const UNUSED = 'update trafficwatches.traffic.example.com/finalizers';
const VARIABLES = {
  job: 'traffic-operator',
  namespace: 'default',
  trafficwatch: 'web',
  stack: '',
  node: '.*',
  __rate_interval: '1m',
  __interval: '5s',
  __range: '5m',
};
const failureReport = (): void => onTestFailed(async () => console.error(await operatorLogs().catch(String)));

const labels = async (): Promise<(string | undefined)[]> => Object.values(await labelsByNode('web'));

/** Nodes that pods have written since, the operator's among them: labels that flipped would show here. */
async function nodesWrittenSince(since: Date): Promise<string[]> {
  return (await writesSince(since, 'nodes')).map(({ pod, name }) => `${pod} wrote ${name}`);
}

let began: Date;

beforeAll(async () => {
  began = await enterLab();
  // What a node sends of its own is far more: it is unfit, so that the panels of unfit nodes have something to show.
  await kubectl('annotate', 'node', 'node2', 'traffic.example.com/capacity=1kbit');
  await helmInstall({ 'stacks.enabled': 'false' });
  await installOtherMonitoring(await nodeAddresses());
  await applyWatch('web', '90', 2);
  await vi.waitFor(async () => expect(await labels()).toEqual(LABELS), within(120));
}, 900_000);
afterAll(leaveLab);

describe('the dashboards', () => {
  const hasData = async ({ expr, instant }: PanelQuery): Promise<boolean> =>
    (instant ? await ask(expr) : await askOverTime(expr, 5)).length > 0;

  it('find data for the query of every panel', async () => {
    failureReport();
    // Without those of the connectivity check, the weights and the stacks, which integration/connectivity/dashboard.test.ts,
    // integration/weights/trafficWeight.test.ts and integration/stacks/dashboard.test.ts look at.
    const others = [uidOf('connectivity'), uidOf('weights'), uidOf('stacks')];
    const queries = panelQueries(VARIABLES).filter(({ where }) => !others.some((other) => where.startsWith(other)));
    expect(queries.length).toBeGreaterThan(50);
    await vi.waitFor(async () => {
      const missing: string[] = [];
      for (const query of queries) if (!(await hasData(query))) missing.push(query.where);
      expect(missing).toEqual([]);
    }, within(120));
  });
});

describe('an upgrade', () => {
  let begin: Date;
  let granted: Set<string>;

  it('to every option on leaves labels and pods as they are, and the operator at work', async () => {
    failureReport();
    for (const path of MONITORING_CRDS) await kubectl('create', '-f', path);
    await createMetricsCertificate();
    const pods = await podUids('web');
    begin = new Date();
    await helmUpgrade(EVERYTHING_ON);
    await expectAtWork('91');
    measured(`at work with every option on ${seconds(Date.now() - begin.getTime())} after the upgrade began`);
    expect(await podUids('web')).toEqual(pods);
    expect(await nodesWrittenSince(begin)).toEqual([]);
    granted = rightsOf(await operatorRules());
  });

  it('made what was asked for', async () => {
    const kinds = 'networkpolicies,servicemonitors,prometheusrules';
    const names = (await kubectl('get', kinds, '-n', NAMESPACE, '-l', 'team=network', '-o', 'name')).trim().split('\n');
    expect(names).toEqual([
      'networkpolicy.networking.k8s.io/traffic-operator',
      'networkpolicy.networking.k8s.io/traffic-operator-connectivity',
      'networkpolicy.networking.k8s.io/traffic-operator-prometheus',
      'servicemonitor.monitoring.coreos.com/traffic-operator',
      'prometheusrule.monitoring.coreos.com/traffic-operator',
    ]);
    expect(await kubectl('get', 'validatingadmissionpolicies', '-l', 'team=network', '-o', 'name')).not.toBe('');
  });

  it('checks the network between the nodes', async () => {
    failureReport();
    await vi.waitFor(async () => expect(isHealthy(await check())).toBe(true), within(120));
  });

  it('takes back a label that somebody changed, which the admission policy lets it', async () => {
    failureReport();
    await kubectl('label', 'node', 'node1', `${LABEL}=true`, '--overwrite');
    await vi.waitFor(async () => expect(await labels()).toEqual(LABELS), within(60));
  });

  it('serves the metrics to those that may read them', async () => {
    failureReport();
    await createScrapers();
    // The API server comes to know of the binding later.
    await vi.waitFor(async () => {
      const { status, text } = await scrape('scraper');
      expect([status, text]).toEqual([200, expect.stringContaining('traffic_operator_api_requests_total')]);
    }, within(20));
    expect([await scrape('stranger'), await scrape()]).toMatchObject([{ status: 403 }, { status: 401 }]);
  });

  it('makes no node fit where all are over the threshold, tells of it, and lets running pods stay', async () => {
    failureReport();
    const pods = await podUids('web');
    await kubectl('annotate', 'nodes', 'node1', 'node3', 'traffic.example.com/capacity=1kbit');
    await vi.waitFor(async () => expect(await labels()).toEqual(['true', 'true', 'true']), within(60));
    await vi.waitFor(
      async () => expect(await kubectl('events', '--for', 'trafficwatch/web')).toMatch(/Warning +AllNodesUnfit/),
      within(20),
    );
    expect(await podUids('web')).toEqual(pods);
    await kubectl('annotate', 'nodes', 'node1', 'node3', 'traffic.example.com/capacity-');
    await vi.waitFor(async () => expect(await labels()).toEqual(LABELS), within(60));
    expect(await podUids('web')).toEqual(pods);
    begin = new Date();
  });

  it('can be rolled back, without a label that flips', async () => {
    failureReport();
    const rolledBackAt = Date.now();
    await helmRollback();
    await expectAtWork('92');
    measured(`at work as before ${seconds(Date.now() - rolledBackAt)} after the rollback began`);
    expect(await kubectl('get', 'networkpolicies', '-n', NAMESPACE, '-o', 'name')).toBe('');
    expect(await nodesWrittenSince(begin)).toEqual([]);
  });

  it('to a Prometheus that was there before takes its own away, and no label flips', async () => {
    failureReport();
    await otherMonitoringReady();
    const upgradedAt = Date.now();
    await helmUpgrade({ stacks: NO_STACKS, prometheus: { url: OTHER_PROMETHEUS } });
    await vi.waitFor(async () => {
      expect(await kubectl('get', 'deployment', 'prometheus', '-n', NAMESPACE, '--ignore-not-found')).toBe('');
      expect(await kubectl('get', 'namespace', `${NAMESPACE}-node-exporter`, '--ignore-not-found')).toBe('');
    }, within(60));
    measured(`its own Prometheus and exporter are gone ${seconds(Date.now() - upgradedAt)} after the upgrade began`);
    // Of nodes that are not measured it would say that they are unknown.
    await expectAtWork('93');
    expect(await nodesWrittenSince(begin)).toEqual([]);
  });

  it('reads the workloads of others', async () => {
    failureReport();
    const watches = watchesOfMissingTargets();
    await applyObjects(watches);
    const names = watches.map(({ metadata }) => metadata?.name ?? '');
    await vi.waitFor(async () => {
      const found = await Promise.all(names.map((name) => getObject<TrafficWatch>('trafficwatch', name)));
      expect(targetReasons(found)).toEqual(names.map(() => 'TargetNotFound'));
    }, within(60));
    await kubectl('delete', 'trafficwatch', ...names);
  });

  it('used every right that it was given for it, and was refused nothing', () => {
    const { used, refused } = rightsUsed('traffic-operator', began);
    expect([...refused]).toEqual([]);
    expect(unusedRights(granted, used.add(BY_CHANCE))).toEqual([UNUSED]);
  });
});

/** The replicas are there, and go by what the TrafficWatch says from now on. */
async function expectAtWork(threshold: string): Promise<void> {
  // On a busy machine one may miss a probe.
  await vi.waitFor(async () => {
    const { status } = await getObject<V1Deployment>('deployment', 'traffic-operator', '-n', NAMESPACE);
    expect(status?.readyReplicas).toBe(2);
  }, within(60));
  await applyWatch('web', threshold, 2);
  await vi.waitFor(async () => {
    const { metadata, status } = await getObject<TrafficWatch>('trafficwatch', 'web');
    const ready = { type: 'Ready', status: 'True', observedGeneration: metadata?.generation };
    expect(status?.conditions).toContainEqual(expect.objectContaining(ready));
    expect(status).toMatchObject({ fitNodes: 2, unfitNodes: 1, unknownNodes: 0 });
  }, within(60));
}

describe('removal', () => {
  it('works after all of that', async () => {
    await helmUninstall();
    expect(await ownLabels()).toEqual([]);
    expect([...rightsUsed('traffic-operator-cleanup', began).refused]).toEqual([]);
  });
});
