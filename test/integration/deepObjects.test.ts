import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { kubectl } from '../harness/kubectl.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Objects of one namespace that have as many levels of fields as the API server accepts, or enough to end functions that call themselves. */
const LEVELS = [2_000, 9_900];

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  f.exporter.setPercent('n1', 50);
  await f.startOperator();
});
afterAll(() => f.stop());

/** A pod template with so many levels, as text: JSON.stringify would overflow the stack. */
function templateOf(levels: number): string {
  const fields = `${'{"f:a":'.repeat(levels)}{}${'}'.repeat(levels)}`;
  const applied = `"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${fields}`;
  const metadata = `{"labels":{"app":"deep"},"managedFields":[{${applied}}]}`;
  return `{"metadata":${metadata},"spec":{"containers":[{"name":"c","image":"i"}]}}`;
}

function watchOf(levels: number): string {
  const deployment = `{"selector":{"matchLabels":{"app":"deep"}},"template":${templateOf(levels)}}`;
  const head = `"apiVersion":"traffic.example.com/v1alpha1","kind":"TrafficWatch","metadata":{"name":"deep-${levels}"}`;
  return `{${head},"spec":{"maxBandwidthPercent":"60","deployment":${deployment}}}`;
}

function deploymentOf(levels: number): string {
  const labels = '{"app.kubernetes.io/managed-by":"traffic-operator"}';
  const spec = `{"replicas":0,"selector":{"matchLabels":{"app":"deep"}},"template":${templateOf(levels)}}`;
  return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"deep-${levels}","labels":${labels}},"spec":${spec}}`;
}

it('have no content for the operator, say why, and stop nobody else', async () => {
  const create = ['create', '--validate=false', '-n', 'default', '-f', '-'];
  for (const levels of LEVELS) {
    for (const text of [watchOf(levels), deploymentOf(levels)]) await kubectl(f.controlPlane, create, text);
  }
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(unfitKey('web'))).toEqual({ n1: 'true' }), { timeout: 60_000 });
  for (const levels of LEVELS) {
    await vi.waitFor(
      async () => {
        const { conditions } = (await f.watch(`deep-${levels}`)).status ?? {};
        expect(findCondition(conditions, 'Stalled')).toMatchObject({
          status: 'True',
          message: expect.stringContaining('this one has more than 200 levels of fields') as string,
        });
      },
      { timeout: 60_000 },
    );
  }
  expect(f.operator().log()).not.toContain('RangeError');
});
