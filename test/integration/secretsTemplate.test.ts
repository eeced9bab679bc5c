import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { V1Deployment } from '@kubernetes/client-node';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { DEPLOYMENTS, EVENTS } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Marked values in the pod template of a TrafficWatch: made, changed, fought over, refused, at log level trace. All that
 * the operator says of it is searched: log, events, metrics, status.
 */
const WAIT = { timeout: 90_000, interval: 200 };
const REF = { namespace: 'default', name: 'web' };
const MARK = 'SECRET';
const LABEL = unfitKey('web');

let f: Fixture;

/** A container with a marked value in every place where people put such a thing. */
const container = (mark: string, more: object = {}): object => ({
  name: 'web',
  image: 'web:1',
  command: ['web', `--token=${mark}-command`],
  args: [`--password=${mark}-argument`],
  env: [{ name: 'PASSWORD', value: `${mark}-value`, ...more }],
});

/** The pod template with that container and a marked annotation, as a Deployment and a TrafficWatch have it. */
const marked = (mark: string, more?: object): object => {
  const metadata = { labels: { app: 'web', tier: 'front' }, annotations: { 'example.com/key': `${mark}-annotation` } };
  return { template: { metadata, spec: { containers: [container(mark, more)] } } };
};

const setTemplate = (mark: string, more?: object): Promise<unknown> =>
  f.patchWatch('web', { spec: { deployment: marked(mark, more) } });
const deployment = (): Promise<V1Deployment> => f.client.get(DEPLOYMENTS, REF);

/** Resolves when the Deployment has all four values of this mark. */
async function hasCome(mark: string): Promise<void> {
  await vi.waitFor(async () => {
    const { template } = (await deployment()).spec!;
    expect(template.spec?.containers[0]).toMatchObject(container(mark));
    expect(template.metadata?.annotations).toMatchObject({ 'example.com/key': `${mark}-annotation` });
  }, WAIT);
}

/** The messages of the log, an object each, that say this. */
const logged = (msg: string): Record<string, unknown>[] =>
  f
    .operator()
    .log()
    .split('\n')
    .slice(0, -1) // of the last line, only a part may be there
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line.msg === msg);

/** All texts of the operator so far, by place; the spec is the user's own. */
async function allSaid(): Promise<Record<string, string>> {
  const { metadata, status } = await f.client.get(TRAFFIC_WATCHES, REF);
  return {
    log: f.operator().log(),
    events: JSON.stringify(await f.client.list(EVENTS)),
    metrics: await (await fetch(f.operator().metricsUrl)).text(),
    status: JSON.stringify({ metadata, status }),
  };
}

async function expectNothingSaid(): Promise<void> {
  for (const [where, text] of Object.entries(await allSaid())) {
    const at = text.indexOf(MARK);
    expect(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 100), where).toBe('');
  }
}

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await setTemplate(`${MARK}-1`);
  await f.startOperator(['--log-level=trace']);
});
afterAll(() => f.stop());

describe('the values of a pod template appear nowhere', () => {
  it('when the Deployment is made', async () => {
    await hasCome(`${MARK}-1`);
    await vi.waitFor(async () => expect(await f.labels(LABEL)).toEqual({ n1: 'false' }), WAIT);
    await vi.waitFor(async () => expect(await f.events('web')).not.toEqual([]), WAIT);
    await expectNothingSaid();
  });

  it('when they change: the log has the names of the fields', async () => {
    await setTemplate(`${MARK}-2`);
    await hasCome(`${MARK}-2`);
    await vi.waitFor(() => expect(changed()).toEqual(fields()), WAIT);
    await expectNothingSaid();
  });

  it('when somebody changes the Deployment and it is put right', async () => {
    const before = logged('applied').length;
    await f.client.mergePatch(DEPLOYMENTS, REF, { spec: marked(`${MARK}-theirs`) }, { fieldManager: 'person' });
    await vi.waitFor(() => expect(logged('applied').length).toBeGreaterThan(before), WAIT);
    await hasCome(`${MARK}-2`);
    expect(changed()).toEqual(fields());
    await expectNothingSaid();
  });

  it('when the API server refuses the Deployment, and the status says why', async () => {
    // A value and a source of the value: the schema of a TrafficWatch has both, a Deployment may have one.
    await setTemplate(`${MARK}-3`, { valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } });
    await vi.waitFor(async () => {
      const { conditions = [] } = (await f.watch('web')).status ?? {};
      const stalled = conditions.find(({ type }) => type === 'Stalled');
      expect(stalled).toMatchObject({ status: 'True' });
      expect(stalled?.message).toContain('env[0].valueFrom');
    }, WAIT);
    await vi.waitFor(async () => expect(JSON.stringify(await f.events('web'))).toContain('env[0].valueFrom'), WAIT);
    await expectNothingSaid();
  });

  it('when the API server goes away and comes back', async () => {
    await f.controlPlane.stopApiServer();
    await vi.waitFor(() => expect(f.operator().log()).toContain('ECONNREFUSED'), WAIT);
    await f.controlPlane.startApiServer();
    await setTemplate(`${MARK}-4`, { valueFrom: null });
    await hasCome(`${MARK}-4`);
    await expectNothingSaid();
  });
});

/** The fields that the last apply changed, as the log names them. */
function changed(): unknown {
  return [...(logged('applied').at(-1)?.changed as string[])].sort();
}

function fields(): unknown {
  return expect.arrayContaining([
    '.spec.template.metadata.annotations.example.com/key',
    '.spec.template.spec.containers[web].args[0]',
    '.spec.template.spec.containers[web].command[1]',
    '.spec.template.spec.containers[web].env[PASSWORD].value',
  ]);
}
