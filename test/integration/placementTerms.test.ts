import type { V1Pod } from '@kubernetes/client-node';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { POD_PLACEMENT_NAME, POD_PLACEMENTS, type PodPlacementSpec } from '../../src/api/podplacement/schema.ts';
import { podTerms, prepare, type PreparedPlacement } from '../../src/placement/podTerms.ts';
import { patched, placements, pods } from '../../src/placement/testing/samples.ts';
import { resourcePath } from '../../src/runtime/client/resource.ts';
import { NAMESPACES, PODS } from '../../src/runtime/client/resources.ts';
import { sampleRuns, sampleSize } from '../../src/runtime/testing/sampleSize.ts';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { installCrd, podPlacementCrd } from '../harness/customResource.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { WAIT } from './injection/world.ts';

/**
 * The API server evaluates the policy, and podTerms the same expressions with another interpreter: the pods must be equal,
 * whatever terms they have.
 */
const LONG_MS = 900_000;
const PROBE = { probe: 'yes' };
const PROBE_KEY = 'probe.space.traffic.example.com/unfit';

let plane: ControlPlane;
let c: Connected;
/** By namespace. */
const prepared = new Map<string, PreparedPlacement>();

beforeAll(async () => {
  plane = await startControlPlane({});
  c = connect(plane);
  await installCrd(c.client, podPlacementCrd(), POD_PLACEMENTS);
  await installPlacementPolicy(c.client);
  const specs = fc.sample(placements, { numRuns: sampleSize({ quick: 12, full: 60 }), seed: 1 });
  for (const [index, spec] of specs.entries()) await place(`space-${index}`, withProbe(spec));
  await vi.waitFor(async () => {
    for (const namespace of prepared.keys()) {
      const { spec } = await admitted(namespace, {
        metadata: { name: 'probe', labels: PROBE },
        spec: { containers: [MAIN] },
      });
      expect(JSON.stringify(spec?.affinity)).toContain(PROBE_KEY);
    }
  }, WAIT);
}, LONG_MS);
afterAll(async () => {
  await c.transport.close();
  await plane.stop();
});

const MAIN = { name: 'main', image: 'registry.example.com/app:1' };

/** With an entry that shows that the API server has the object. */
function withProbe({ entries = [], byLabel = {}, others }: PodPlacementSpec): PodPlacementSpec {
  const podSelector = { matchLabels: PROBE };
  const probe = { trafficWatch: 'probe', labelKey: PROBE_KEY, placement: 'Required' as const, podSelector };
  return {
    entries: [...entries, probe],
    byLabel: { ...byLabel, 'probe=yes': [entries.length] },
    ...(others && { others }),
  };
}

async function place(namespace: string, spec: PodPlacementSpec): Promise<void> {
  await c.client.create(NAMESPACES, { metadata: { name: namespace } });
  await c.client.create(POD_PLACEMENTS, { metadata: { namespace, name: POD_PLACEMENT_NAME }, spec });
  prepared.set(namespace, prepare(spec));
}

async function admitted(namespace: string, body: V1Pod): Promise<V1Pod> {
  const path = resourcePath(PODS, { namespace });
  return c.transport.request<V1Pod>({ method: 'POST', path, query: { dryRun: 'All' }, body });
}

/** Without empty lists, which the API server drops. */
function affinityOf({ spec }: V1Pod): unknown {
  const text = JSON.stringify(spec?.affinity ?? null, (_key, value: unknown) =>
    Array.isArray(value) && value.length === 0 ? undefined : value,
  );
  return JSON.parse(text);
}

it(
  'podTerms changes pods as the policy in the API server does',
  async () => {
    const namespaces = fc.constantFrom(...prepared.keys());
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(namespaces, pods, async (namespace, pod) => {
        const terms = podTerms(pod, prepared.get(namespace)!);
        if (terms.length > 0) changed += 1;
        expect(affinityOf(patched(pod, terms))).toEqual(affinityOf(await admitted(namespace, pod)));
      }),
      sampleRuns({ numRuns: 200, seed: 1 }, { numRuns: 10_000, timeoutMs: LONG_MS }),
    );
    expect(changed).toBeGreaterThan(50);
  },
  LONG_MS,
);
