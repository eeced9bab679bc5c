import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Manifest } from '../../../scripts/chart/helm.ts';
import { established } from '../../harness/customResource.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { BUNDLE, csvOf, DEPLOY } from './files.ts';

/** The examples of the bundle and the samples, on a real API server that accepts no unknown field. */
const EXAMPLES = JSON.parse(csvOf(BUNDLE).metadata.annotations['alm-examples']!) as Manifest[];
const SAMPLES = readdirSync(join(DEPLOY, 'samples'));

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
  const { ok, text } = await cluster.kubectl(['apply', '--server-side', '-k', join(DEPLOY, 'crds')]);
  expect({ ok, text }).toMatchObject({ ok: true });
  await established(cluster.kubectl, ['crd', '--all']);
});
afterAll(() => cluster.stop());

describe('alm-examples', () => {
  it('has one of each kind', () => {
    const { owned } = csvOf(BUNDLE).spec.customresourcedefinitions;
    // Users create no PodPlacement.
    const kinds = owned.map(({ kind }) => kind).filter((kind) => kind !== 'PodPlacement');
    expect(EXAMPLES.map(({ kind }) => kind)).toEqual(kinds);
  });

  it.each(EXAMPLES.map((example) => [example.kind, example] as const))('%s is accepted', async (_kind, example) => {
    await vi.waitFor(
      async () =>
        expect(await cluster.kubectl(['create', '--validate=strict', '-f-'], example)).toMatchObject({ ok: true }),
      { interval: 500 },
    );
  });

  it('an unknown field is not', async () => {
    const [example] = EXAMPLES;
    const wrong = { ...example, metadata: { name: 'wrong' }, spec: { ...(example!.spec as object), maxBandwith: '1' } };
    const { ok, text } = await cluster.kubectl(['create', '--validate=strict', '-f-'], wrong);
    expect([ok, text]).toEqual([false, expect.stringContaining('unknown field "spec.maxBandwith"')]);
  });
});

it.each(SAMPLES)('deploy/samples/%s is accepted', async (file) => {
  const args = [
    'apply',
    '--server-side',
    '--force-conflicts',
    '--validate=strict',
    '-f',
    join(DEPLOY, 'samples', file),
  ];
  expect(await cluster.kubectl(args)).toMatchObject({ ok: true });
});
