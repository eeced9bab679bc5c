import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Applies each example of docs/trafficwatch.md while an operator runs: it accepts the example and acts on it. That the
 * API server accepts every TrafficWatch in the documents is tested in readme.test.ts.
 */
const WAIT = { timeout: 90_000, interval: 200 };
const PAGE = readFileSync(new URL('../../docs/trafficwatch.md', import.meta.url), 'utf8');

interface Example {
  readonly section: string;
  readonly watch: TrafficWatch;
}

const EXAMPLES: readonly Example[] = PAGE.split(/^## /m).flatMap((text) =>
  [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']) => {
    return { section: text.split('\n', 1)[0]!, watch: parse(yaml) as TrafficWatch };
  }),
);

const NODES = ['n1', 'n2', 'n3'];

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: NODES });
  for (const node of NODES) f.exporter.setDevice(node, 'eth0', { sends: 1, receives: 1 });
  await f.startOperator();
});
afterAll(() => f.stop());

/** No garbage collector runs that would delete the Deployment. */
async function remove(name: string): Promise<void> {
  await f.deleteWatch(name);
  await vi.waitFor(() => expect(f.watch(name)).rejects.toSatisfy(isNotFound), WAIT);
  for (const { metadata } of await f.client.list(DEPLOYMENTS)) {
    await f.client.delete(DEPLOYMENTS, { namespace: 'default', name: metadata!.name! });
  }
}

describe('docs/trafficwatch.md', () => {
  it('has examples', () => expect(EXAMPLES.length).toBeGreaterThan(15));

  // One after the other: most have the same name.
  it.each(EXAMPLES)('the operator acts on the example of $section', async ({ watch }) => {
    const { spec } = watch;
    const name = watch.metadata!.name!;
    onTestFinished(() => remove(name));
    await f.createRawWatch(name, spec);
    await vi.waitFor(async () => {
      const { metadata, status } = await f.watch(name);
      const conditions = status?.conditions ?? [];
      expect(status?.observedGeneration).toBe(metadata?.generation);
      expect(findCondition(conditions, 'Stalled')).toMatchObject({ status: 'False' });
      expect(findCondition(conditions, 'Ready')).toMatchObject({ status: 'True' });
      expect(status?.mode).toBe(spec.mode ?? 'Enforce');
    }, WAIT);
    const key = unfitKey(spec.label ?? name);
    const labelled = spec.mode === 'Observe' ? {} : Object.fromEntries(NODES.map((node) => [node, 'false']));
    await vi.waitFor(async () => expect(await f.labels(key)).toEqual(labelled), WAIT);
    const made = (await f.client.list(DEPLOYMENTS)).map(({ metadata }) => metadata?.name);
    expect(made).toEqual(spec.deployment !== undefined && spec.mode !== 'Observe' ? [name] : []);
  });
});
