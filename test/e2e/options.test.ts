import { fileURLToPath } from 'node:url';
import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from 'vitest';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { measured, seconds } from '../harness/measured.ts';
import { SLACK, within } from '../harness/slack.ts';
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
import { check, isHealthy } from '../scenario/connectivity.ts';
import {
  applyWatchedDeployment,
  deploymentPods,
  injection,
  readyWebhooks,
  recreate,
  scaleWebhook,
} from './webhookPods.ts';
import { operatorRules, rightsOf, rightsUsed, unusedRights } from '../scenario/rights.ts';
import { createMetricsCertificate, createScrapers, scrape } from '../scenario/secureMetrics.ts';
import { targetReasons, watchesOfMissingTargets } from '../scenario/targets.ts';
import { applyWatch, podUids } from '../scenario/watch.ts';
import { enterLab, leaveLab } from './storyLab/storyLab.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Switches every option of the chart on, and back again, as a careful admin does, on real pods; then the placement webhook. Without stacks, whose
 * rights include others of the operator, and would hide that one of these is missing.
 */
const NO_STACKS = { enabled: false };
const LABEL = unfitKey('web');
const LABELS = ['false', 'true', 'false'];
const MONITORING_CRDS = ['servicemonitors', 'prometheusrules'].map((plural) =>
  fileURLToPath(new URL(`../chart/testdata/monitoring.coreos.com_${plural}.yaml`, import.meta.url)),
);
const EVERYTHING_ON = {
  stacks: NO_STACKS,
  interval: '6s',
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
/** For an Event that happens again within ten minutes, for a component that is not ready, and while the admission policy is not there. */
const BY_CHANCE = [
  ...['patch events.events.k8s.io', 'list events.events.k8s.io'],
  'list mutatingwebhookconfigurations.admissionregistration.k8s.io',
];
const UNUSED = [
  // For the last ready revision of components, which `upgrade.rollback` needs; test/integration/stacks/builtIns.test.ts does.
  'create controllerrevisions.apps',
  // For workloads that exist, with the admission policy; test/chart/rights.test.ts does.
  'create podplacements.traffic.example.com',
  'delete controllerrevisions.apps',
  'delete podplacements.traffic.example.com',
  'get controllerrevisions.apps',
  'patch controllerrevisions.apps',
  'patch podplacements.traffic.example.com',
  // Where the admission plugin OwnerReferencesPermissionEnforcement is on.
  'update trafficstacks.traffic.example.com/finalizers',
  'update trafficwatches.traffic.example.com/finalizers',
];
const failureReport = (): void => onTestFailed(async () => console.error(await operatorLogs().catch(String)));

const labels = async (): Promise<(string | undefined)[]> => Object.values(await labelsByNode('web'));

/** Nodes that pods have written since, the operator's among them: labels that flipped would show here. */
async function nodesWrittenSince(since: Date): Promise<string[]> {
  return (await writesSince(since, 'nodes')).map(({ pod, name }) => `${pod} wrote ${name}`);
}

let began: Date;

beforeAll(async () => {
  began = await enterLab();
  // What a node sends of its own is far more: it is unfit.
  await kubectl('annotate', 'node', 'node2', 'traffic.example.com/capacity=1kbit');
  await helmInstall({ 'stacks.enabled': 'false', interval: '5s' });
  await installOtherMonitoring(await nodeAddresses());
  await applyWatch('web', '90', 2);
  await vi.waitFor(async () => {
    expect(await labels()).toEqual(LABELS);
    expect(await podUids('web')).toHaveLength(2);
  }, within(120));
}, 900_000);
afterAll(leaveLab);

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
    // One that cannot be reviewed in time is answered otherwise, and asks again.
    await vi.waitFor(
      async () => expect([await scrape('stranger'), await scrape()]).toMatchObject([{ status: 403 }, { status: 401 }]),
      within(20),
    );
  });

  it('can be rolled back, without a label that flips', async () => {
    failureReport();
    begin = new Date();
    await helmRollback();
    await expectAtWork('92');
    measured(`at work as before ${seconds(Date.now() - begin.getTime())} after the rollback began`);
    expect(await kubectl('get', 'networkpolicies', '-n', NAMESPACE, '-o', 'name')).toBe('');
    expect(await nodesWrittenSince(begin)).toEqual([]);
  });

  it('to a Prometheus that was there before takes its own away, and no label flips', async () => {
    failureReport();
    await otherMonitoringReady();
    const upgradedAt = Date.now();
    await helmUpgrade({ stacks: NO_STACKS, interval: '5s', prometheus: { url: OTHER_PROMETHEUS } });
    await vi.waitFor(async () => {
      const left = await Promise.all(
        ['deployments', 'namespaces'].map((kind) => getObject<{ items: V1Deployment[] }>(kind, '-n', NAMESPACE)),
      );
      const names = left.flatMap(({ items }) => items.map(({ metadata }) => metadata?.name));
      for (const name of ['prometheus', `${NAMESPACE}-node-exporter`]) expect(names).not.toContain(name);
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
    expect(unusedRights(granted, new Set([...used, ...BY_CHANCE]))).toEqual(UNUSED);
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

describe('the placement webhook, without the policy', () => {
  const NAME = 'hooked';
  const SECONDS = SLACK * 60;
  const termsOf = ({ spec }: V1Pod): string => JSON.stringify(spec?.affinity?.nodeAffinity ?? {});

  it('gives the pods of a Deployment their term, which the API server calls by its Service', async () => {
    failureReport();
    await helmUpgrade({
      stacks: NO_STACKS,
      interval: '5s',
      prometheus: { url: OTHER_PROMETHEUS },
      placementPolicy: { enabled: false },
      placementWebhook: { enabled: true },
    });
    expect(await readyWebhooks()).toBe(2);
    await otherMonitoringReady();
    await applyWatchedDeployment(NAME, '90');
    await vi.waitFor(async () => expect(await injection(NAME)).toBe('WebhookInstalled'), within(90));
    await vi.waitFor(async () => expect(Object.values(await labelsByNode(NAME))).toEqual(LABELS), within(90));
    const pods = await recreate(NAME, 4, SECONDS);
    expect(pods.map((pod) => termsOf(pod).includes(unfitKey(NAME)))).toEqual([true, true, true, true]);
    expect(pods.map(({ spec }) => spec?.nodeName)).not.toContain('node2');
  });

  it('that has no pod keeps none from being created, and says so', async () => {
    failureReport();
    const running = (await deploymentPods(NAME)).map(({ metadata }) => metadata?.uid).sort();
    await scaleWebhook(0, SECONDS);
    expect((await deploymentPods(NAME)).map(({ metadata }) => metadata?.uid).sort()).toEqual(running);
    const begin = Date.now();
    const pods = await recreate(NAME, 4, SECONDS);
    measured(`4 pods ran ${seconds(Date.now() - begin)} after they were asked for, without the webhook`);
    expect(pods.map(termsOf)).toEqual(['{}', '{}', '{}', '{}']);
    await vi.waitFor(async () => expect(await injection(NAME)).toBe('WebhookNotReady'), within(60));
  });

  it('gives new pods their term again when it is back', async () => {
    failureReport();
    await scaleWebhook(2, SECONDS);
    await vi.waitFor(async () => expect(await injection(NAME)).toBe('WebhookInstalled'), within(60));
    const pods = await recreate(NAME, 2, SECONDS);
    expect(pods.every((pod) => termsOf(pod).includes(unfitKey(NAME)))).toBe(true);
  });
});

describe('removal', () => {
  it('works after all of that', async () => {
    await helmUninstall();
    expect(await ownLabels()).toEqual([]);
    expect([...rightsUsed('traffic-operator-cleanup', began).refused]).toEqual([]);
  });
});
