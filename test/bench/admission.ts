/**
 * What the placement policy costs each pod: creates pods in a namespace with a TrafficWatch that selects them, and in
 * turn in one without, on a real API server. Prints min, median and max of each repetition's p50 and p99.
 *
 *   make bench-admission
 *
 * Environment: PODS of each kind and repetition (1000), REPETITIONS (5), PLACEMENT (Required), and with AtCreation the
 * number of UNFIT nodes (100).
 */
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import type { Placement } from '../../src/api/trafficwatch/spec/placement.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { NAMESPACES, PODS } from '../../src/runtime/client/resources.ts';
import { startControlPlane } from '../harness/controlPlane.ts';
import { installCrd } from '../harness/customResource.ts';
import { until } from '../harness/measured.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import { connect } from '../harness/runtimeScene.ts';
import { percentile, summarize } from './statistics.ts';
import { unfitKey } from '../harness/unfitKey.ts';

const PODS_OF_A_KIND = Number(process.env.PODS ?? '1000');
const REPETITIONS = Number(process.env.REPETITIONS ?? '5');
const PLACEMENT = (process.env.PLACEMENT ?? 'Required') as Placement;
const UNFIT = Number(process.env.UNFIT ?? '100');
const WITH = 'with-policy';
const WITHOUT = 'without-policy';
const LABELS = { app: 'web' };

/** The largest affinity of a pod: bytes of JSON. */
let largest = 0;

/** Status as the operator writes it; no operator runs here, so that it takes no CPU from the API server. */
async function createWatch(client: Client): Promise<void> {
  const metadata = { name: 'web', namespace: WITH };
  const spec: TrafficWatch['spec'] = {
    maxBandwidthPercent: '60',
    placement: PLACEMENT,
    podSelector: { matchLabels: LABELS },
  };
  await client.create(TRAFFIC_WATCHES, { metadata, spec });
  const labelKey = unfitKey('web', WITH);
  // Names as long as those of cloud providers.
  const names = Array.from(
    { length: UNFIT },
    (_, n) => `ip-10-0-${Math.floor(n / 250)}-${n % 250}.eu-central-1.compute.internal`,
  );
  const avoidedNodes = PLACEMENT === 'AtCreation' ? { avoidedNodes: names } : {};
  const status = { labelKey, podSelector: { matchLabels: LABELS }, ...avoidedNodes };
  const options = { fieldManager: 'bench', subresource: 'status' };
  await client.mergePatch(TRAFFIC_WATCHES, metadata, { status }, options);
}

/** Milliseconds that the creation takes. Throws if the pod does not have what the policy adds, or has it without. */
async function createPod(client: Client, namespace: string, name: string): Promise<number> {
  const containers = [{ name: 'main', image: 'registry.example.com/app:1' }];
  const since = performance.now();
  const pod = await client.create(PODS, { metadata: { namespace, name, labels: LABELS }, spec: { containers } });
  const took = performance.now() - since;
  const affinity = JSON.stringify(pod.spec?.affinity ?? null);
  largest = Math.max(largest, Buffer.byteLength(affinity));
  const isChanged = pod.spec?.affinity !== undefined;
  if (isChanged !== (namespace === WITH)) throw new Error(`${namespace}/${name}: affinity ${String(isChanged)}`);
  return took;
}

async function repetition(client: Client, n: number): Promise<Record<string, number[]>> {
  const took: Record<string, number[]> = { [WITH]: [], [WITHOUT]: [] };
  for (let each = 0; each < PODS_OF_A_KIND; each += 1) {
    for (const namespace of each % 2 === 0 ? [WITH, WITHOUT] : [WITHOUT, WITH]) {
      took[namespace]!.push(await createPod(client, namespace, `pod-${n}-${each}`));
    }
  }
  return took;
}

function spread(values: readonly number[]): string {
  const { min, median, max } = summarize(values);
  return [min, median, max].map((ms) => ms.toFixed(2)).join(' / ');
}

const plane = await startControlPlane();
const { client, transport } = connect(plane);
try {
  await installCrd(client);
  await installPlacementPolicy(client);
  for (const name of [WITH, WITHOUT]) await client.create(NAMESPACES, { metadata: { name } });
  await createWatch(client);
  let probe = 0;
  await until('the policy is in force', () =>
    createPod(client, WITH, `probe-${probe++}`).then(
      () => true,
      () => false,
    ),
  );
  const all: Record<string, number[]>[] = [];
  for (let n = 0; n < REPETITIONS; n += 1) all.push(await repetition(client, n));
  console.log(
    `${PLACEMENT}, affinity of ${largest} bytes: ${REPETITIONS} x ${PODS_OF_A_KIND} pods of each kind, in turn; ` +
      'ms, min / median / max of the repetitions',
  );
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const of = (namespace: string): number[] => all.map((took) => percentile(took[namespace]!, share));
    const more = of(WITH).map((ms, n) => ms - of(WITHOUT)[n]!);
    console.log(`${name} without ${spread(of(WITHOUT))}   with ${spread(of(WITH))}   more ${spread(more)}`);
  }
} finally {
  await transport.close();
  await plane.stop();
}
