import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from 'vitest';
import type { KubernetesObject, V1Deployment } from '@kubernetes/client-node';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { measured } from '../harness/measured.ts';
import { SLACK, within } from '../harness/slack.ts';
import { addNode, removeNode, shape } from '../lab/lab.ts';
import { helmInstall, helmUninstall, NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import { exhaustMemory } from '../scenario/kill.ts';
import { labels, ownLabels } from '../scenario/nodeLabels.ts';
import { containerOf, freezeLeader, leader, podOf, startOf } from '../scenario/operatorPods.ts';
import { startTraffic, stopTraffic } from '../scenario/traffic.ts';
import { applyWatch, nodeRows, podUids, sampleWatch } from '../scenario/watch.ts';
import { writesSince } from '../scenario/audit.ts';
import { ask } from '../scenario/prometheus.ts';
import { cleanupRights, operatorRules, rightsOf, rightsUsed, unusedRights } from '../scenario/rights.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** The whole story on real pods: helm install, traffic, labels, pods, failover, uninstall. One test goes on from the other. */
const EXPORTER_NAMESPACE = `${NAMESPACE}-node-exporter`;

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}

const failureReport = (): void => onTestFailed(async () => console.error(await operatorLogs().catch(String)));

/** The labels of a node that fills its link with what it sends, and of a node that only receives it. */
const DIRECTIONS = [
  { direction: 'Transmit', node1: 'true', node3: 'false' },
  { direction: 'Receive', node1: 'false', node3: 'true' },
  { direction: 'Max', node1: 'true', node3: 'true' },
  { direction: 'Sum', node1: 'true', node3: 'true' },
] as const;

/** The leader that hangs, until the kubelet restarts it more than a minute later: the story goes on meanwhile. */
let hung: Awaited<ReturnType<typeof freezeLeader>>;

let began: Date;

beforeAll(async () => {
  began = await enterLab();
  for (const node of NODES) {
    await shape(node, '100mbit');
    await kubectl('annotate', 'node', node, 'traffic.example.com/capacity=100Mbit');
  }
  await helmInstall();
}, 900_000);
afterAll(leaveLab);

describe('an installed operator', () => {
  it('measures every node and runs the Deployment of a TrafficWatch', async () => {
    failureReport();
    await applyWatch('web', '20', 3);
    await applyObjects(
      DIRECTIONS.map(({ direction }) => {
        const watch = sampleWatch(direction.toLowerCase(), '20', 0);
        return { ...watch, spec: { ...watch.spec, direction } };
      }),
    );
    await vi.waitFor(async () => {
      expect(await labels('web')).toEqual({ node1: 'false', node2: 'false', node3: 'false' });
      const rows = await nodeRows('web');
      expect(rows.flatMap((r) => r.pods)).toHaveLength(3);
      expect(rows.every((r) => r.percent !== '')).toBe(true);
      // Written after labels and pods.
      const { status } = await getObject<TrafficWatch>('trafficwatch', 'web');
      expect(status).toMatchObject({ ready: true, fitNodes: 3, unfitNodes: 0, unknownNodes: 0 });
    }, within(120));
  });

  it('labels the node whose link is full, and new pods keep off it while running ones stay', async () => {
    failureReport();
    const before = await nodeRows('web');
    const begin = await startTraffic('node1', 'node3');
    await vi.waitFor(async () => {
      expect(await labels('web')).toEqual({ node1: 'true', node2: 'false', node3: 'false' });
    }, within(90));
    const took = (Date.now() - begin.getTime()) / 1000;
    measured(`node1 was labelled ${took.toFixed(0)} s after its link was full`);
    expect(took).toBeLessThanOrEqual(SLACK * 60);
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

  it('judges what a node receives if the direction says so: node1 only sends, node3 only receives', async () => {
    failureReport();
    const names = DIRECTIONS.map(({ direction }) => direction.toLowerCase());
    const expected = DIRECTIONS.map(({ node1, node3 }) => ({ node1, node2: 'false', node3 }));
    await vi.waitFor(
      async () => expect(await Promise.all(names.map((name) => labels(name)))).toEqual(expected),
      within(90),
    );
    const percents = await Promise.all(names.map(async (name) => (await nodeRows(name)).map(({ percent }) => percent)));
    measured(`percent of node1, node2, node3 by direction: ${JSON.stringify(percents)}`);
    await kubectl('delete', 'trafficwatch', ...names, `--timeout=${SLACK * 30}s`);
  });

  it('takes the label back when the traffic stops, with events that tell of it, though the leader hangs', async () => {
    failureReport();
    hung = await freezeLeader();
    await stopTraffic();
    await vi.waitFor(async () => expect((await labels('web')).node1).toBe('false'), within(90));
    // An event is written after the label.
    await vi.waitFor(async () => {
      const events = await kubectl('events', '--for', 'trafficwatch/web');
      expect(events).toMatch(/NodeUnfit.*node1 turned unfit/);
      expect(events).toMatch(/NodeFit.*node1 turned fit/);
    }, within(20));
  });
});

describe('what it measures with', () => {
  it('is healed within 10 s when somebody deletes or changes it', async () => {
    failureReport();
    await kubectl('delete', 'daemonset', 'node-exporter', '-n', EXPORTER_NAMESPACE);
    await vi.waitFor(() => getObject('daemonset', 'node-exporter', '-n', EXPORTER_NAMESPACE), within(10));
    await kubectl('scale', 'deployment', 'prometheus', '-n', NAMESPACE, '--replicas=0');
    await vi.waitFor(async () => {
      const { spec } = await getObject<V1Deployment>('deployment', 'prometheus', '-n', NAMESPACE);
      expect(spec?.replicas).toBe(1);
    }, within(10));
    await vi.waitFor(
      async () => expect((await nodeRows('web')).every((r) => r.percent !== '')).toBe(true),
      within(120),
    );
  });

  it('scrapes a node that joins within 20 s of its being Ready', async () => {
    failureReport();
    await addNode();
    await kubectl('wait', 'node/node4', '--for=condition=Ready', `--timeout=${SLACK * 60}s`);
    const took = await seconds(() => vi.waitFor(() => expectScraped('node4'), within(20)));
    measured(`node4 was scraped ${took.toFixed(1)} s after it was Ready`);
    await vi.waitFor(async () => expect((await labels('web')).node4).toBe('false'), within(60));
    await removeNode('node4');
    await vi.waitFor(async () => {
      expect((await getObject<TrafficWatch>('trafficwatch', 'web')).status?.nodes).not.toHaveProperty('node4');
    }, within(60));
    // As garbage is collected a minute later, for which the end of the exporter's namespace would wait.
    await kubectl('delete', 'pods', '-A', '--field-selector=spec.nodeName=node4', '--force');
  });
});

async function expectScraped(node: string): Promise<void> {
  expect((await ask(`up{job="node-exporter",node="${node}"}`)).map(({ value }) => value?.[1])).toEqual(['1']);
}

describe('a leader that hangs', () => {
  it('is restarted by the kubelet after three probes, has written nothing since, and no label has flipped', async () => {
    failureReport();
    const { pod, since, restarts } = hung;
    const restarted = async (): Promise<number> => (await containerOf(pod)).restartCount - restarts;
    await vi.waitFor(async () => expect(await restarted(), 'restarts of the leader that hangs').toBe(1), within(120));
    measured(`a leader that hung was restarted within ${((Date.now() - since.getTime()) / 1000).toFixed(0)} s`);
    const about = ['--field-selector', `involvedObject.name=${pod},reason=Killing`, '-o', 'jsonpath={..message}'];
    expect(await kubectl('get', 'events', '-n', NAMESPACE, ...about)).toContain('failed liveness probe');
    expect(await leader()).not.toBe(hung.identity);
    await vi.waitFor(async () => expect((await containerOf(pod)).ready).toBe(true), within(30));
    // Of node1, which was idle again, and of node4, which came. The labels of web and late are one write, or two in a row.
    const writes = await writesSince(since, 'nodes');
    const nodes = writes.map(({ name }) => name);
    expect(nodes.filter((name, n) => name !== nodes[n - 1])).toEqual(['node1', 'node4']);
    // Its next process may lead by now.
    const restartedAt = await startOf(pod);
    expect(writes.filter((write) => write.pod === pod && write.at < restartedAt)).toEqual([]);
  });
});

describe('leader failover', () => {
  it('after the kernel killed it for want of memory the other writes within 20 s, and it stops writing', async () => {
    failureReport();
    const identity = await leader();
    const old = podOf(identity);
    const { containerID, restartCount } = await containerOf(old);
    const killedAt = new Date();
    await exhaustMemory(containerID!);
    await kubectl('label', 'node', 'node2', `${unfitKey('web')}-`);
    const took = await seconds(() =>
      vi.waitFor(async () => expect((await labels('web')).node2).toBe('false'), within(20)),
    );
    measured(`the new leader wrote ${took.toFixed(1)} s after the old one was killed`);
    expect(await leader()).not.toBe(identity);
    // The kubelet tells of it later.
    const restartedAt = await vi.waitFor(async () => {
      const { lastState, ...container } = await containerOf(old);
      expect(container.restartCount).toBe(restartCount + 1);
      expect(lastState?.terminated).toMatchObject({ reason: 'OOMKilled', exitCode: 137 });
      return startOf(old);
    }, within(30));
    const writes = await writesSince(killedAt, 'nodes');
    expect(writes).not.toEqual([]);
    // The next process of its pod may be the one that leads.
    expect(writes.filter((write) => write.pod === old && write.at < restartedAt)).toEqual([]);
  });
});

/**
 * For an Event that happens again within ten minutes, for a component that is not ready, and for workloads that it does not own, which the
 * stack `default` may read: each is chance.
 */
const BY_CHANCE = ['patch events.events.k8s.io', 'list events.events.k8s.io', 'get daemonsets.apps'];
/** Rights for what did not happen in this story. */
const UNUSED_RIGHTS = [
  // For the last ready revision of components, which `upgrade.rollback` needs; test/integration/stacks/builtIns.test.ts does.
  'create controllerrevisions.apps',
  // For workloads that it does not own; test/chart/rights.test.ts does.
  'create podplacements.traffic.example.com',
  // To delete its own exporter and Prometheus when another Prometheus is set; test/chart/rights.test.ts does.
  'delete configmaps',
  'delete controllerrevisions.apps',
  'delete daemonsets.apps',
  'delete deployments.apps',
  'delete namespaces',
  'delete podplacements.traffic.example.com',
  'delete serviceaccounts',
  'delete services',
  'delete trafficstacks.traffic.example.com',
  'get controllerrevisions.apps',
  // For workloads that it does not own; test/e2e/options.test.ts does.
  'get cronjobs.batch',
  'get jobs.batch',
  'get statefulsets.apps',
  'list mutatingadmissionpolicies.admissionregistration.k8s.io',
  'list mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'list mutatingwebhookconfigurations.admissionregistration.k8s.io',
  // For the connectivity check; test/e2e/options.test.ts does.
  'patch connectivitychecks.traffic.example.com/status',
  'patch controllerrevisions.apps',
  'patch podplacements.traffic.example.com',
  // Where the admission plugin OwnerReferencesPermissionEnforcement is on.
  'update trafficstacks.traffic.example.com/finalizers',
  'update trafficwatches.traffic.example.com/finalizers',
];

const UNUSED_BY_CLEANUP = [
  // For an operator that never led.
  'create leases.coordination.k8s.io',
  // Without stacks and workloads that it does not own; test/chart/rights.test.ts does. Kubernetes deletes the DaemonSets of the stack `default` when it is gone.
  'delete daemonsets.apps',
  'delete deployments.apps',
  'delete podplacements.traffic.example.com',
  'delete serviceaccounts',
  'delete services',
];

describe('the rights of the operator', () => {
  it('are those that it used in all of the above, and none more', async () => {
    const { used, refused } = rightsUsed('traffic-operator', began);
    expect([...refused]).toEqual([]);
    // integration/stacks checks each right of stacks.
    const granted = rightsOf(await operatorRules());
    expect(unusedRights(granted, new Set([...used, ...BY_CHANCE]))).toEqual(UNUSED_RIGHTS);
  });
});

describe('removal', () => {
  it('of a TrafficWatch takes its labels off and leaves no finalizer', async () => {
    failureReport();
    await kubectl('delete', 'trafficwatch', 'late', `--timeout=${SLACK * 30}s`);
    expect(Object.values(await labels('late')).filter((v) => v !== undefined)).toEqual([]);
    expect((await labels('web')).node1).toBe('false');
  });

  it('by helm uninstall leaves the workload, and no label, no finalizer, no exporter and no Prometheus', async () => {
    failureReport();
    const [granted, pods] = [await cleanupRights(), await podUids('web')];
    measured(`helm uninstall took ${(await seconds(helmUninstall)).toFixed(1)} s`);
    expect(await ownLabels()).toEqual([]);
    const watch = await getObject<TrafficWatch>('trafficwatch', 'web');
    expect([watch.metadata?.name, watch.metadata?.finalizers]).toEqual(['web', undefined]);
    expect((await getObject<V1Deployment>('deployment', 'web')).status?.readyReplicas).toBe(3);
    expect(await podUids('web')).toEqual(pods);
    await vi.waitFor(async () => {
      const kinds = 'deployments,daemonsets,services,configmaps,trafficstacks';
      const { items } = await getObject<{ items: KubernetesObject[] }>(kinds, '-n', NAMESPACE);
      expect(items.map(({ metadata }) => metadata?.name)).toEqual(['kube-root-ca.crt']);
      const namespaces = await getObject<{ items: KubernetesObject[] }>('namespaces');
      expect(namespaces.items.map(({ metadata }) => metadata?.name)).not.toContain(EXPORTER_NAMESPACE);
    }, within(60));
    const { used, refused } = rightsUsed('traffic-operator-cleanup', began);
    expect([...refused]).toEqual([]);
    expect(unusedRights(granted, used)).toEqual(UNUSED_BY_CLEANUP);
  });

  it('of the CRD ends, since nothing is held by an operator that is gone', async () => {
    await kubectl('delete', 'crd', 'trafficwatches.traffic.example.com', `--timeout=${SLACK * 60}s`);
    await expect(kubectl('get', 'crd', 'trafficwatches.traffic.example.com')).rejects.toThrow(/not found/i);
  });
});
