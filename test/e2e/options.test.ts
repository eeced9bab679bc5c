import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1Deployment, V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from 'vitest';
import type { TrafficWatch } from '../../src/api/trafficwatch.ts';
import { panelQueries, type PanelQuery } from '../../dashboards/queries.ts';
import { createAuthority } from '../integration/pki.ts';
import { labDown, labUp } from '../lab/lab.ts';
import { writesSince } from '../scenario/audit.ts';
import { helmInstall, helmRollback, helmUninstall, helmUpgrade, provideImage } from '../scenario/install.ts';
import { NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { getObject, kubectl } from '../scenario/kubectl.ts';
import { ask, askOverTime } from '../scenario/prometheus.ts';
import { applyWatch, nodeRows } from '../scenario/watch.ts';

/** What a careful admin does with the chart, on real pods: every option on, back again, and the dashboards looked at. */
const LABEL = 'web.traffic.example.com/unfit';
const LABELS = ['false', 'true'];
const MONITORING_CRDS = ['servicemonitors', 'prometheusrules'].map((plural) =>
  fileURLToPath(new URL(`../chart/testdata/monitoring.coreos.com_${plural}.yaml`, import.meta.url)),
);
const EVERYTHING_ON = {
  interval: '5s',
  logLevel: 'debug',
  metrics: { secure: true, certSecret: 'metrics-tls', serviceMonitor: { enabled: true } },
  prometheusRule: { enabled: true },
  networkPolicy: { enabled: true },
  dashboards: { enabled: true },
  nodePolicy: { enabled: true },
  commonLabels: { team: 'network' },
  priorityClassName: 'system-cluster-critical',
  tolerations: [{ operator: 'Exists' }],
};
const VARIABLES = {
  job: 'traffic-operator',
  namespace: 'default',
  trafficwatch: 'web',
  node: '.*',
  __rate_interval: '1m',
  __interval: '5s',
};
const within = (seconds: number) => ({ timeout: seconds * 1000, interval: 1000 });
const failureReport = (): void => onTestFailed(async () => console.error(await operatorLogs().catch(String)));

async function labels(): Promise<(string | undefined)[]> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  return items.map(({ metadata }) => metadata?.labels?.[LABEL]);
}

async function createCertificate(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'metrics-tls-'));
  try {
    await createAuthority(directory);
    const [key, certificate] = ['apiserver.key', 'apiserver.crt'].map((name) => join(directory, name));
    const secret = ['create', 'secret', 'tls', 'metrics-tls', `--key=${key}`, `--cert=${certificate}`];
    await kubectl(...secret, '-n', NAMESPACE);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Nodes that pods have written since, the operator's among them: labels that flipped would show here. */
async function nodesWrittenSince(since: Date): Promise<string[]> {
  return (await writesSince(since, 'nodes')).map(({ pod, name }) => `${pod} wrote ${name}`);
}

beforeAll(async () => {
  await labUp({ nodes: 2 });
  // What a node sends of its own is far more: it is unfit, so that the panels of unfit nodes have something to show.
  await kubectl('annotate', 'node', 'node2', 'traffic.example.com/capacity=1kbit');
  await provideImage();
  await helmInstall();
  await applyWatch('web', '90', 2);
  await vi.waitFor(async () => expect(await labels()).toEqual(LABELS), within(120));
}, 900_000);
afterAll(() => labDown());

describe('the dashboards', () => {
  const hasData = async ({ expr, instant }: PanelQuery): Promise<boolean> =>
    (instant ? await ask(expr) : await askOverTime(expr, 5)).length > 0;

  it('find data for the query of every panel', async () => {
    failureReport();
    const queries = panelQueries(VARIABLES);
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

  it('to every option on leaves labels and pods as they are, and the operator at work', async () => {
    failureReport();
    for (const path of MONITORING_CRDS) await kubectl('create', '-f', path);
    await createCertificate();
    const pods = (await nodeRows('web')).flatMap((row) => row.pods);
    begin = new Date();
    await helmUpgrade(EVERYTHING_ON);
    await expectAtWork('91');
    expect((await nodeRows('web')).flatMap((row) => row.pods)).toEqual(pods);
    expect(await nodesWrittenSince(begin)).toEqual([]);
  });

  it('made what was asked for', async () => {
    const kinds = 'networkpolicies,servicemonitors,prometheusrules';
    const names = (await kubectl('get', kinds, '-n', NAMESPACE, '-l', 'team=network', '-o', 'name')).trim().split('\n');
    expect(names).toEqual([
      'networkpolicy.networking.k8s.io/traffic-operator',
      'networkpolicy.networking.k8s.io/traffic-operator-prometheus',
      'servicemonitor.monitoring.coreos.com/traffic-operator',
      'prometheusrule.monitoring.coreos.com/traffic-operator',
    ]);
    expect(await kubectl('get', 'validatingadmissionpolicies', '-l', 'team=network', '-o', 'name')).not.toBe('');
  });

  it('takes back a label that somebody changed, which the admission policy lets it', async () => {
    failureReport();
    await kubectl('label', 'node', 'node1', `${LABEL}=true`, '--overwrite');
    await vi.waitFor(async () => expect(await labels()).toEqual(LABELS), within(60));
    begin = new Date();
  });

  it('can be rolled back, without a label that flips', async () => {
    failureReport();
    await helmRollback();
    await expectAtWork('92');
    expect(await kubectl('get', 'networkpolicies', '-n', NAMESPACE, '-o', 'name')).toBe('');
    expect(await nodesWrittenSince(begin)).toEqual([]);
  });
});

/** The replicas are there, and go by what the TrafficWatch says from now on. */
async function expectAtWork(threshold: string): Promise<void> {
  const { status } = await getObject<V1Deployment>('deployment', 'traffic-operator', '-n', NAMESPACE);
  expect(status?.readyReplicas).toBe(2);
  await applyWatch('web', threshold, 2);
  await vi.waitFor(async () => {
    const { metadata, status } = await getObject<TrafficWatch>('trafficwatch', 'web');
    const ready = { type: 'Ready', status: 'True', observedGeneration: metadata?.generation };
    expect(status?.conditions).toContainEqual(expect.objectContaining(ready));
    expect(status).toMatchObject({ fitNodes: 1, unfitNodes: 1, unknownNodes: 0 });
  }, within(60));
}

describe('removal', () => {
  it('works after all of that', async () => {
    await helmUninstall();
    expect(await labels()).toEqual([undefined, undefined]);
  });
});
