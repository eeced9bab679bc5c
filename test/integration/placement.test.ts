import type { V1Deployment, V1NodeAffinity } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Placement } from '../../src/api/trafficwatch/spec/placement.ts';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { expectApplied } from '../harness/applied.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** What a change of spec.placement does to a Deployment on a real API server: who owns its fields decides that. */
const WAIT = { timeout: 90_000, interval: 200 };
const REF = { namespace: 'default', name: 'web' };
const FIT = { matchExpressions: [{ key: 'web.traffic.example.com/unfit', operator: 'NotIn', values: ['true'] }] };
const OWN = { weight: 7, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } };

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  await f.startOperator();
});
afterAll(() => f.stop());

const nodeAffinity = ({ spec }: V1Deployment): V1NodeAffinity | undefined =>
  spec?.template.spec?.affinity?.nodeAffinity;

async function settled(expected: V1NodeAffinity): Promise<V1Deployment> {
  return vi.waitFor(async () => {
    const found = await f.client.get(DEPLOYMENTS, REF);
    expectApplied(found);
    expect(nodeAffinity(found)).toEqual(expected);
    return found;
  }, WAIT);
}

const place = (placement: Placement | null): Promise<unknown> => f.patchWatch('web', { spec: { placement } });

const required = {
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [FIT] },
  preferredDuringSchedulingIgnoredDuringExecution: [OWN],
};
const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [OWN, { weight: 100, preference: FIT }] };

describe('spec.placement', () => {
  it('is Required where the spec does not say', async () => {
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [OWN] } };
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { affinity, containers: [{ name: 'web', image: 'web:1' }] },
    };
    const spec = { maxBandwidthPercent: '10', deployment: { selector: { matchLabels: { app: 'web' } }, template } };
    await f.client.create(TRAFFIC_WATCHES, { metadata: REF, spec });
    await settled(required);
  });

  it('can be set to Required without a change of the Deployment, which would roll it', async () => {
    const before = await f.client.get(DEPLOYMENTS, REF);
    await place('Required');
    await vi.waitFor(async () => {
      const { metadata, status } = await f.client.get(TRAFFIC_WATCHES, REF);
      expect(status?.observedGeneration).toBe(metadata?.generation);
    }, WAIT);
    expect((await f.client.get(DEPLOYMENTS, REF)).metadata?.generation).toBe(before.metadata?.generation);
  });

  it('removes the required term when it becomes Preferred, and keeps the user’s terms', async () => {
    await place('Preferred');
    await settled(preferred);
  });

  it('removes the preferred term when the field is removed', async () => {
    await place(null);
    await settled(required);
  });

  it('is refused by the API server when it is AtCreation: names in the template would roll it with each label', async () => {
    await expect(place('AtCreation')).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('must be Required or Preferred with deployment') as string,
    });
  });

  it('is refused by the API server with any other value, and the message names the allowed ones', async () => {
    await expect(place('preferred' as Placement)).rejects.toMatchObject({
      message: expect.stringMatching(/spec\.placement.*"preferred".*"Required", "Preferred"/) as string,
    });
  });
});
