/**
 * Measures the cost of the placement policy for each pod: creates pods in turn in namespaces without TrafficWatches, with one that
 * selects them, and with many of which one or all select them, on a real API server. Prints min, median and max of each
 * repetition's p50 and p99, and of its quotient of the p50 and the p50 with one TrafficWatch. Fails if many TrafficWatches cost
 * more than GOAL times as much as one (median of the repetitions).
 *
 *   make bench-admission
 *
 * Environment: PODS of each kind and repetition (1000), REPETITIONS (5), WATCHES of the namespaces with many ("200 1000"),
 * ALL of the namespaces where all select the pod ("200"), PLACEMENT (Required), and with AtCreation the number of UNFIT nodes
 * (100).
 */
import { POD_PLACEMENT_NAME, POD_PLACEMENTS } from '../../src/api/podplacement/schema.ts';
import { nativeKeyOf } from '../../src/api/trafficwatch/labelKey.ts';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import type { Placement } from '../../src/api/trafficwatch/spec/placement.ts';
import { decidePodPlacement } from '../../src/controllers/trafficwatch/decide/workload/podPlacement.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { NAMESPACES, PODS } from '../../src/runtime/client/resources.ts';
import { startControlPlane } from '../harness/controlPlane.ts';
import { installCrd, podPlacementCrd } from '../harness/customResource.ts';
import { until } from '../harness/measured.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import { connect } from '../harness/runtimeScene.ts';
import { percentile, summarize } from './statistics.ts';

const PODS_OF_A_KIND = Number(process.env.PODS ?? '1000');
const REPETITIONS = Number(process.env.REPETITIONS ?? '5');
const WATCHES = (process.env.WATCHES ?? '200 1000').split(' ').map(Number);
const ALL = (process.env.ALL ?? '200').split(' ').map(Number);
const GOAL = 1.2;
const PLACEMENT = (process.env.PLACEMENT ?? 'Required') as Placement;
const UNFIT = Number(process.env.UNFIT ?? '100');
const LABELS = { app: 'web' };
/** Which TrafficWatches each namespace has: whether they select the pods. */
const SCENES: Readonly<Record<string, readonly boolean[]>> = {
  none: [],
  one: [true],
  ...Object.fromEntries(WATCHES.map((of) => [`one-of-${of}`, Array.from({ length: of }, (_, n) => n === 0)])),
  ...Object.fromEntries(ALL.map((of) => [`all-of-${of}`, Array.from({ length: of }, () => true)])),
};

/** The largest affinity of a pod in each namespace: bytes of JSON. */
const largest: Record<string, number> = {};
/** The entries of the PodPlacement of each namespace. */
const entries: Record<string, number> = {};

// Names as long as the names of cloud providers.
const NODES = Array.from(
  { length: UNFIT },
  (_, n) => `ip-10-0-${Math.floor(n / 250)}-${n % 250}.eu-central-1.compute.internal`,
);

function aWatch(namespace: string, n: number, isSelecting: boolean): TrafficWatch {
  const podSelector = { matchLabels: isSelecting ? LABELS : { app: `other-${n}` } };
  const watch: TrafficWatch = {
    metadata: { name: `web-${n}`, namespace },
    spec: { maxBandwidthPercent: '60', placement: PLACEMENT, podSelector },
  };
  const avoided = PLACEMENT === 'AtCreation' ? { avoidedNodes: NODES } : {};
  return { ...watch, status: { labelKey: nativeKeyOf(watch), podSelector, ...avoided } };
}

/** The object as the operator writes it; no operator runs here, so that it takes no CPU from the API server. */
async function createPlacement(client: Client, namespace: string): Promise<void> {
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  const { spec } = decidePodPlacement(SCENES[namespace]!.map((isSelecting, n) => aWatch(namespace, n, isSelecting)));
  entries[namespace] = spec?.entries?.length ?? 0;
  if (spec === undefined) return;
  await client.create(POD_PLACEMENTS, { metadata: { name: POD_PLACEMENT_NAME, namespace }, spec });
}

/** Milliseconds that the creation takes. Throws if the pod does not have what the policy adds, or has it without. */
async function createPod(client: Client, namespace: string, name: string): Promise<number> {
  const containers = [{ name: 'main', image: 'registry.example.com/app:1' }];
  const since = performance.now();
  const pod = await client.create(PODS, { metadata: { namespace, name, labels: LABELS }, spec: { containers } });
  const took = performance.now() - since;
  const affinity = JSON.stringify(pod.spec?.affinity ?? '');
  largest[namespace] = Math.max(largest[namespace] ?? 0, Buffer.byteLength(affinity));
  const isChanged = pod.spec?.affinity !== undefined;
  if (isChanged !== SCENES[namespace]!.includes(true)) throw new Error(`${namespace}/${name}: affinity ${affinity}`);
  return took;
}

async function repetition(client: Client, n: number): Promise<Record<string, number[]>> {
  const names = Object.keys(SCENES);
  const took: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let each = 0; each < PODS_OF_A_KIND; each += 1) {
    // Each namespace is first as often as the others.
    const first = each % names.length;
    for (const namespace of [...names.slice(first), ...names.slice(0, first)]) {
      took[namespace]!.push(await createPod(client, namespace, `pod-${n}-${each}`));
    }
  }
  return took;
}

/** The p50 of each repetition. */
function medians(all: readonly Record<string, number[]>[], namespace: string): number[] {
  return all.map((took) => percentile(took[namespace]!, 0.5));
}

/** The quotients with one TrafficWatch, of each repetition: what disturbs the machine then disturbs both. */
function quotients(all: readonly Record<string, number[]>[], namespace: string): number[] {
  const one = medians(all, 'one');
  return medians(all, namespace).map((ms, n) => ms / one[n]!);
}

function spread(values: readonly number[]): string {
  const { min, median, max } = summarize(values);
  return [min, median, max].map((ms) => ms.toFixed(2)).join(' / ');
}

const plane = await startControlPlane();
const { client, transport } = connect(plane);
try {
  await installCrd(client, podPlacementCrd(), POD_PLACEMENTS);
  await installPlacementPolicy(client);
  for (const namespace of Object.keys(SCENES)) await createPlacement(client, namespace);
  let probe = 0;
  const isInForce = (namespace: string): Promise<boolean> =>
    createPod(client, namespace, `probe-${probe++}`).then(
      () => true,
      () => false,
    );
  for (const namespace of Object.keys(SCENES)) {
    await until(`pods of ${namespace} have what the policy adds`, () => isInForce(namespace));
  }
  const all: Record<string, number[]>[] = [];
  for (let n = 0; n < REPETITIONS; n += 1) all.push(await repetition(client, n));
  console.log(
    `${PLACEMENT}: ${REPETITIONS} x ${PODS_OF_A_KIND} pods of each namespace, in turn; ms, min / median / max of the repetitions`,
  );
  for (const [namespace, watches] of Object.entries(SCENES)) {
    const p99 = spread(all.map((took) => percentile(took[namespace]!, 0.99)));
    const p50 = spread(medians(all, namespace));
    const counts = `${watches.length} TrafficWatches, ${watches.filter(Boolean).length} select, ${entries[namespace]} have an entry`;
    console.log(
      `${namespace} (${counts}, affinity of ${largest[namespace]} bytes): p50 ${p50}   p99 ${p99}   p50 as a multiple of one ${spread(quotients(all, namespace))}`,
    );
  }
  for (const namespace of Object.keys(SCENES)) {
    const { median } = summarize(quotients(all, namespace));
    if (median <= GOAL) continue;
    console.log(`missed: a pod of ${namespace} takes ${median.toFixed(2)} times as long as with one, goal ${GOAL}`);
    process.exitCode = 1;
  }
} finally {
  await transport.close();
  await plane.stop();
}
