import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from 'vitest';
import type { V1Lease, V1Node, V1Pod } from '@kubernetes/client-node';
import type { TrafficWatch } from '../../src/api/trafficwatch.ts';
import { addNode, labDown, labUp, removeNode, shape } from '../lab/lab.ts';
import { helmInstall, helmUninstall, NAMESPACE, operatorLogs, provideImage } from '../scenario/install.ts';
import { getObject, kubectl } from '../scenario/kubectl.ts';
import { killContainer } from '../scenario/kill.ts';
import { startTraffic, stopTraffic } from '../scenario/traffic.ts';
import { applyWatch, nodeRows } from '../scenario/watch.ts';
import { writesSince } from '../scenario/audit.ts';
import { ask } from '../scenario/prometheus.ts';
import { rightsOf, rightsUsed, unusedRights, type Rule } from '../scenario/rights.ts';

/** The whole story on real pods: helm install, traffic, labels, pods, failover, uninstall. One test goes on from the other. */
const NODES = ['node1', 'node2', 'node3'];
const EXPORTER_NAMESPACE = `${NAMESPACE}-node-exporter`;
const key = (watch: string): string => `${watch}.traffic.example.com/unfit`;
const within = (seconds: number) => ({ timeout: seconds * 1000, interval: 500 });

async function labels(watch: string): Promise<Record<string, string | undefined>> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  return Object.fromEntries(items.map((n) => [n.metadata?.name ?? '', n.metadata?.labels?.[key(watch)]]));
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}

async function leaderPod(): Promise<string> {
  const lease = await getObject<V1Lease>('lease', 'traffic-operator', '-n', NAMESPACE);
  return (lease.spec?.holderIdentity ?? '').split('_')[0] ?? '';
}

const failureReport = (): void => onTestFailed(async () => console.error(await operatorLogs().catch(String)));

beforeAll(async () => {
  await labUp({ nodes: NODES.length });
  for (const node of NODES) {
    await shape(node, '100mbit');
    await kubectl('annotate', 'node', node, 'traffic.example.com/capacity=100Mbit');
  }
  await provideImage();
  await helmInstall();
}, 900_000);
afterAll(async () => {
  await labDown();
});

describe('an installed operator', () => {
  it('measures every node and runs the Deployment of a TrafficWatch', async () => {
    failureReport();
    await applyWatch('web', '20', 3);
    await vi.waitFor(async () => {
      expect(await labels('web')).toEqual({ node1: 'false', node2: 'false', node3: 'false' });
      const rows = await nodeRows('web');
      expect(rows.flatMap((r) => r.pods)).toHaveLength(3);
      expect(rows.every((r) => r.percent !== '')).toBe(true);
    }, within(120));
    const { status } = await getObject<TrafficWatch>('trafficwatch', 'web');
    expect(status).toMatchObject({ ready: true, fitNodes: 3, unfitNodes: 0, unknownNodes: 0 });
  });

  it('labels the node whose link is full, and new pods keep off it while running ones stay', async () => {
    failureReport();
    const before = await nodeRows('web');
    await startTraffic('node1', 'node3');
    await vi.waitFor(async () => {
      expect(await labels('web')).toEqual({ node1: 'true', node2: 'false', node3: 'false' });
    }, within(90));
    expect((await nodeRows('web')).find((r) => r.node === 'node1')?.pods).toEqual(
      before.find((r) => r.node === 'node1')?.pods,
    );
    await applyWatch('late', '20', 6);
    await vi.waitFor(async () => {
      const rows = await nodeRows('late');
      expect(rows.flatMap((r) => r.pods)).toHaveLength(6);
      expect(rows.find((r) => r.node === 'node1')).toMatchObject({ verdict: 'Unfit', label: 'true', pods: [] });
    }, within(90));
  });

  it('takes the label back when the traffic stops, with events that tell of it', async () => {
    failureReport();
    await stopTraffic();
    await vi.waitFor(async () => expect((await labels('web')).node1).toBe('false'), within(90));
    const events = await kubectl('events', '--for', 'trafficwatch/web');
    expect(events).toMatch(/NodeUnfit.*node1 turned unfit/);
    expect(events).toMatch(/NodeFit.*node1 turned fit/);
  });
});

describe('what it measures with', () => {
  it('is healed within 10 s when somebody deletes or changes it', async () => {
    failureReport();
    await kubectl('delete', 'daemonset', 'node-exporter', '-n', EXPORTER_NAMESPACE);
    await vi.waitFor(() => kubectl('get', 'daemonset', 'node-exporter', '-n', EXPORTER_NAMESPACE), within(10));
    await kubectl('scale', 'deployment', 'prometheus', '-n', NAMESPACE, '--replicas=0');
    await vi.waitFor(async () => {
      const replicas = await kubectl(
        'get',
        'deployment',
        'prometheus',
        '-n',
        NAMESPACE,
        '-o',
        'jsonpath={.spec.replicas}',
      );
      expect(replicas).toBe('1');
    }, within(10));
    await vi.waitFor(
      async () => expect((await nodeRows('web')).every((r) => r.percent !== '')).toBe(true),
      within(120),
    );
  });

  it('scrapes a node that joins within 20 s of its being Ready', async () => {
    failureReport();
    await addNode();
    await kubectl('wait', 'node/node4', '--for=condition=Ready', '--timeout=60s');
    const took = await seconds(() => vi.waitFor(() => expectScraped('node4'), within(20)));
    console.log(`node4 was scraped ${took.toFixed(1)} s after it was Ready`);
    await vi.waitFor(async () => expect((await labels('web')).node4).toBe('false'), within(60));
    await removeNode('node4');
    await vi.waitFor(async () => {
      expect((await getObject<TrafficWatch>('trafficwatch', 'web')).status?.nodes).not.toHaveProperty('node4');
    }, within(60));
  });
});

async function expectScraped(node: string): Promise<void> {
  expect((await ask(`up{job="node-exporter",node="${node}"}`)).map(({ value }) => value?.[1])).toEqual(['1']);
}

describe('leader failover', () => {
  it('after SIGKILL the other replica writes within 20 s, and the old one no more', async () => {
    failureReport();
    const old = await leaderPod();
    const { spec, status } = await getObject<V1Pod>('pod', old, '-n', NAMESPACE);
    const killedAt = new Date();
    await killContainer(spec?.nodeName ?? '', status?.containerStatuses?.[0]?.containerID ?? '');
    await kubectl('label', 'node', 'node2', `${key('web')}-`);
    const took = await seconds(() =>
      vi.waitFor(async () => expect((await labels('web')).node2).toBe('false'), within(20)),
    );
    console.log(`the new leader wrote ${took.toFixed(1)} s after the old one was killed`);
    expect(await leaderPod()).not.toBe(old);
    const writers = (await writesSince(killedAt, 'nodes')).map((w) => w.pod);
    expect(writers).not.toContain(old);
    expect(writers.length).toBeGreaterThan(0);
  });
});

/** Rights for what did not happen in this story. */
const UNUSED_RIGHTS = [
  // To take away what it measures with when it is told of another Prometheus; test/chart/rights.test.ts does.
  'delete configmaps',
  'delete daemonsets.apps',
  'delete deployments.apps',
  'delete namespaces',
  'delete serviceaccounts',
  'delete services',
  // Where the admission plugin OwnerReferencesPermissionEnforcement is on.
  'update trafficwatches.traffic.example.com/finalizers',
];

describe('the rights of the operator', () => {
  it('are those that it used in all of the above, and none more', async () => {
    const name = `${NAMESPACE}-traffic-operator`;
    const clusterRole = await getObject<{ rules: Rule[] }>('clusterrole', name);
    const role = await getObject<{ rules: Rule[] }>('role', 'traffic-operator', '-n', NAMESPACE);
    const granted = rightsOf([...clusterRole.rules, ...role.rules]);
    const { used, refused } = rightsUsed(`system:serviceaccount:${NAMESPACE}:traffic-operator`);
    expect([...refused]).toEqual([]);
    expect(unusedRights(granted, used)).toEqual(UNUSED_RIGHTS);
  });
});

describe('removal', () => {
  it('of a TrafficWatch takes its labels off and leaves no finalizer', async () => {
    failureReport();
    await kubectl('delete', 'trafficwatch', 'late', '--timeout=30s');
    expect(Object.values(await labels('late')).filter((v) => v !== undefined)).toEqual([]);
    expect((await labels('web')).node1).toBe('false');
  });

  it('by helm uninstall leaves no label, no finalizer, no exporter and no Prometheus', async () => {
    failureReport();
    await helmUninstall();
    expect(Object.values(await labels('web')).filter((v) => v !== undefined)).toEqual([]);
    const watches = await getObject<{ items: TrafficWatch[] }>('trafficwatches', '-A').catch(() => ({ items: [] }));
    expect(watches.items.flatMap((w) => w.metadata?.finalizers ?? [])).toEqual([]);
    await vi.waitFor(async () => {
      const left = await kubectl('get', 'deployments,daemonsets,services,configmaps', '-n', NAMESPACE, '-o', 'name');
      expect(left.split('\n').filter((name) => name !== '' && !name.includes('kube-root-ca'))).toEqual([]);
      await expect(kubectl('get', 'namespace', EXPORTER_NAMESPACE)).rejects.toThrow(/not found/i);
    }, within(60));
  });
});
