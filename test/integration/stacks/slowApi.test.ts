import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { V1ValidatingWebhookConfiguration } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { DEPLOYMENTS, NAMESPACES } from '../../../src/runtime/client/resources.ts';
import { audited, type AuditedRequest } from '../../harness/audit.ts';
import { measured, seconds, until } from '../../harness/measured.ts';
import { component, startScene, USER, WAIT, type StackScene } from './scene.ts';

/** An admission webhook that never answers: what it is not asked about goes on, and the status says what hangs. */
const HANGING = 'hanging';
const WEBHOOKS: Resource<V1ValidatingWebhookConfiguration> = {
  ...{ group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingWebhookConfiguration' },
  ...{ plural: 'validatingwebhookconfigurations', namespaced: false },
};
/** More than a reconcile writes at once. */
const STUCK = Array.from({ length: 10 }, (_, n) => `stuck-${n}`);
let s: StackScene;
let webhook: Server;
let asked = 0;

beforeAll(async () => {
  s = await startScene(USER);
  await s.f.client.create(NAMESPACES, { metadata: { name: HANGING } });
  await hang();
  await s.startOperator();
});
afterAll(async () => {
  await s.stop();
  webhook.closeAllConnections();
  webhook.close();
});

/** Until the API server asks the webhook about Deployments of a namespace. */
async function hang(): Promise<void> {
  const { directory } = s.f.controlPlane;
  const [cert, key, ca] = ['apiserver.crt', 'apiserver.key', 'ca.crt'].map((name) =>
    readFileSync(`${directory}/${name}`),
  );
  webhook = createServer({ cert, key }, () => void (asked += 1));
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const { port } = webhook.address() as AddressInfo;
  await s.f.client.create(WEBHOOKS, {
    metadata: { name: HANGING },
    webhooks: [
      {
        name: 'hanging.example.com',
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: ca!.toString('base64') },
        rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], operations: ['CREATE'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': HANGING } },
        ...{ timeoutSeconds: 30, failurePolicy: 'Fail', sideEffects: 'None', admissionReviewVersions: ['v1'] },
      },
    ],
  });
  const { podTemplate: template } = component('probe').workload;
  const spec = { selector: { matchLabels: { a: 'b' } }, template: { ...template!, metadata: { labels: { a: 'b' } } } };
  const probe = { metadata: { namespace: HANGING, name: 'probe' }, spec };
  await until('the webhook is asked', async () => {
    const how = { fieldManager: 'person', dryRun: true, signal: AbortSignal.timeout(500) };
    await s.f.client.apply(DEPLOYMENTS, probe, how).catch(() => undefined);
    return asked > 0;
  });
}

const stuck = (name: string) => component(name, { workload: { namespace: HANGING } });

/** How long something takes, at most so many milliseconds. */
async function took(what: string, timeout: number, check: () => Promise<void>): Promise<void> {
  const began = performance.now();
  await vi.waitFor(check, { timeout, interval: 100 });
  measured(`${what} after ${seconds(performance.now() - began)}`);
}

it('shows all components at once, and another stack goes on', async () => {
  const calls = asked;
  await s.create('main', [
    ...STUCK.map(stuck),
    component('free'),
    component('next', { dependsOn: ['free'] }),
    component('behind', { dependsOn: ['stuck-0'] }),
  ]);
  await took('the status of a stack whose writes hang is there', 5_000, async () => {
    expect((await s.stack()).status?.components).toHaveLength(STUCK.length + 3);
  });
  // While writes hang.
  await vi.waitFor(() => expect(asked).toBeGreaterThan(calls), WAIT);
  await s.create('other', [
    component('other-a'),
    component('other-b', { dependsOn: ['other-a'] }),
    component('other-c', { dependsOn: ['other-b'] }),
  ]);
  await took('another stack is ready', 10_000, async () => {
    expect(await s.condition('Ready', 'other')).toMatchObject({ status: 'True' });
  });
});

it('names each write that hangs, and the other components get ready', async () => {
  await took('each write that hangs is named, and the other components are ready', 45_000, async () => {
    const { components = [] } = (await s.stack()).status ?? {};
    const of = (name: string) => components.find((each) => each.name === name);
    for (const name of STUCK) {
      const message = `Deployment ${HANGING}/${name}: no answer from the API server`;
      expect(of(name)).toMatchObject({ state: 'Progressing', reason: 'WriteFailed', message });
    }
    expect([of('free')?.state, of('next')?.state]).toEqual(['Ready', 'Ready']);
    expect(of('behind')).toMatchObject({ state: 'Waiting', waitingOn: { component: 'stuck-0' } });
  });
  const patches = audited(s.f.controlPlane).filter(({ user, verb }) => user === USER && verb === 'patch');
  const hanging = patches.filter(({ namespace }) => namespace === HANGING);
  const isDuringOne = ({ at, answeredAt }: AuditedRequest): boolean =>
    hanging.some((each) => each.at < at && answeredAt < each.answeredAt);
  // Neither the first status nor another stack has waited for any of them.
  const status = patches.find(({ resource, name }) => resource === 'trafficstacks/status' && name === 'main');
  expect(status?.answeredAt).toBeLessThan(Math.min(...hanging.map(({ answeredAt }) => answeredAt)));
  expect(patches.filter(({ name }) => name.startsWith('other-')).some(isDuringOne)).toBe(true);
});

it('goes on to observe', async () => {
  s.kubelet.faults.set('next', { reason: 'CrashLoopBackOff', message: 'back-off' });
  await took('another fault is named', 20_000, async () => {
    expect(await s.component('next')).toMatchObject({ state: 'Degraded', reason: 'CrashLoopBackOff' });
  });
  s.kubelet.faults.delete('next');
  await vi.waitFor(async () => expect((await s.component('next'))?.state).toBe('Ready'), WAIT);
});

it('is ready when the webhook is gone', async () => {
  await s.f.client.delete(WEBHOOKS, { name: HANGING });
  await s.ready();
});
