/**
 * Records the objects that the operator of an earlier commit makes with the default values of its chart, and a TrafficWatch with its
 * Deployment and labels, for test/chart/upgradeFromEarlier.test.ts: as a real API server stored them, without what the server sets.
 *
 *   git worktree add /tmp/earlier b54efd4d && (cd /tmp/earlier && npm ci)
 *   node test/chart/earlier/record.ts /tmp/earlier
 *
 * It needs etcd, kube-apiserver, kubectl, helm and Prometheus of test/lab/build.sh.
 */
import { writeFileSync } from 'node:fs';
import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import { until } from '../../harness/measured.ts';
import { EARLIER_CHART, EARLIER_OBJECTS, Release } from './scene.ts';

/** In the order of creation. */
const KINDS = [
  ...['trafficstacks', 'trafficwatches', 'nodes', 'namespaces', 'serviceaccounts', 'configmaps', 'services'],
  ...['persistentvolumeclaims', 'daemonsets', 'deployments'],
];
const OWN = 'traffic-operator-';
/** The status of others is reported by controllers of Kubernetes. */
const WITH_STATUS = new Set(['TrafficStack', 'TrafficWatch']);

const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error('usage: record.ts DIRECTORY, which is a checkout of the earlier version');
const release = await Release.start((name, value) => (process.env[name] = value));
try {
  await release.install(EARLIER_CHART);
  await release.createOperatorPod();
  await until('TrafficWatches are served', async () => (await release.cluster.kubectl(['get', 'tw'])).ok);
  await release.f.createWatch('web', { maxBandwidthPercent: '20' });
  await release.startOperator(`${checkout}/src/main.ts`);
  await release.ready();
  await release.f.stopOperator();
  const objects = (await Promise.all(KINDS.map(written))).flat();
  writeFileSync(EARLIER_OBJECTS, `${JSON.stringify({ objects }, undefined, 2)}\n`);
} finally {
  await release.stop();
}

async function written(kind: string): Promise<KubeObject[]> {
  const { text } = await release.cluster.kubectl(['get', kind, '-A', '-ojson', '--show-managed-fields']);
  const { items } = JSON.parse(text) as { items: KubeObject[] };
  return items.filter(({ metadata }) => ownFields(metadata).length > 0).map(withoutServerFields);
}

function ownFields(metadata: KubeObject['metadata']) {
  return (metadata?.managedFields ?? []).filter(({ manager = '' }) => manager.startsWith(OWN));
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { metadata = {}, ...content } = object;
  const managedFields = ownFields(metadata).map((entry) => without(entry, ['time']));
  return {
    ...without(content, WITH_STATUS.has(object.kind ?? '') ? [] : ['status']),
    metadata: {
      ...without(metadata, ['uid', 'resourceVersion', 'creationTimestamp', 'generation']),
      managedFields,
    },
  };
}

function without<T extends object>(object: T, fields: readonly string[]): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field))) as Partial<T>;
}
