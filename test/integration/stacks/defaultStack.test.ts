import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { identity, Installation, ownersOf } from './installation.ts';
import { unusedRights, WAIT, type StackScene } from './scene.ts';

/** The stack `default`, which --default-stack creates. */
const USER = 'stack-default';
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await i.startOperator();
});
afterAll(() => i.stop());

it('has what the operator deploys, and no pod restarts', async () => {
  await i.measures();
  const before = { exporter: await i.daemonSet(), prometheus: await i.deployment() };
  const pods = await i.pods();
  await i.restartOperator('--default-stack');
  await s.ready('default');
  const first = await s.stack('default');
  expect(first.spec.components).toMatchObject([
    { name: 'node-exporter', type: 'NodeExporter', mode: 'Auto', nodeExporter: { port: 9100 } },
    { name: 'prometheus', type: 'Prometheus', mode: 'Auto', prometheus: { scrapeInterval: '1s' } },
  ]);
  const owners = [ownersOf(await i.daemonSet()), ownersOf(await i.deployment())];
  expect(owners.flat()).toEqual(['TrafficStack default', 'TrafficStack default']);
  expect(identity(await i.daemonSet())).toEqual(identity(before.exporter));
  expect(identity(await i.deployment())).toEqual(identity(before.prometheus));
  expect(await i.pods()).toEqual(pods);
});

it('follows the flags while nobody has changed it', async () => {
  await i.restartOperator('--default-stack', '--node-exporter=false');
  await i.exporterIsGone();
  await s.ready('default');
  expect((await s.stack('default')).spec.components.map(({ name }) => name)).toEqual(['prometheus']);
  await i.restartOperator('--default-stack', '--node-exporter=false', `--prometheus-url=${s.f.prometheusUrl}`);
  await vi.waitFor(() => expect(s.stack('default')).rejects.toSatisfy(isNotFound), WAIT);
  await i.restartOperator('--default-stack');
  await s.ready('default');
  await i.measures();
  expect(ownersOf(await i.daemonSet())).toEqual(['TrafficStack default']);
});

it('stays as people write it, and is made anew when it is deleted', async () => {
  const first = await s.stack('default');
  const components: ComponentSpec[] = [{ name: 'node-exporter', type: 'NodeExporter', nodeExporter: { port: 9200 } }];
  await s.change('default', components);
  await i.restartOperator('--default-stack');
  await s.ready('default');
  expect((await s.stack('default')).spec).toEqual({ components });
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'default' });
  await vi.waitFor(async () => {
    const { metadata, spec } = await s.stack('default');
    expect([metadata?.uid === first.metadata?.uid, spec]).toEqual([false, first.spec]);
  }, WAIT);
  await s.ready('default');
  await i.measures();
});

it('gives all back when stacks are switched off, and no pod restarts', async () => {
  const before = { exporter: await i.daemonSet(), prometheus: await i.deployment() };
  const pods = await i.pods();
  await i.restartOperator('--stacks=false');
  await vi.waitFor(async () => {
    expect([ownersOf(await i.daemonSet()), ownersOf(await i.deployment())]).toEqual([
      [],
      ['Deployment traffic-operator'],
    ]);
  }, WAIT);
  expect(identity(await i.daemonSet())).toEqual(identity(before.exporter));
  expect(identity(await i.deployment())).toEqual(identity(before.prometheus));
  expect(await i.pods()).toEqual(pods);
});

it('uses each of its rights on TrafficStacks', () => {
  expect(unusedRights(s, USER, (resource) => resource === 'trafficstacks')).toEqual([]);
});
