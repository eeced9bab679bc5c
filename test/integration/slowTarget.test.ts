import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import { CRDS } from '../harness/customResource.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** A target whose API does not answer: its conversion webhook accepts connections and sends nothing. */
const WAIT = { timeout: 90_000, interval: 100 };
const key = (name: string): string => `${name}.traffic.example.com/unfit`;
const BLUES: Resource<KubeObject & { spec: object }> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Blue',
  plural: 'blues',
  namespaced: true,
};

function blues(url: string): V1CustomResourceDefinition {
  const version = (name: string, storage: boolean) => ({
    name,
    storage,
    served: true,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    subresources: {
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'blues.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Blue', listKind: 'BlueList', plural: 'blues', singular: 'blue' },
      versions: [version('v1', true), version('v2', false)],
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url } } },
    },
  };
}

const sockets = new Set<Socket>();
let silent: Server;
let f: Fixture;

beforeAll(async () => {
  silent = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  f = await startFixture({ nodes: ['n1', 'n2'] });
  f.exporter.setPercent('n1', 60);
  await f.client.create(CRDS, blues(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/convert`));
  await vi.waitFor(async () => {
    await f.client.create(BLUES, { metadata: { namespace: 'default', name: 'web' }, spec: { replicas: 1 } });
  }, WAIT);
  await f.startOperator();
  // Until its passes have figures: the labels of the next TrafficWatch then wait for nothing but the target.
  await f.createWatch('first', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(key('first'))).toEqual({ n1: 'true', n2: 'false' }), WAIT);
});
afterAll(async () => {
  await f.stop();
  for (const socket of sockets) socket.destroy();
  silent.close();
});

/** How many questions for the target have ended, with whatever answer. */
async function answered(): Promise<number> {
  return (await metricsOf(f.operator())).sum('api_requests_total', { resource: 'blues.example.com/scale' });
}

describe('a target whose API does not answer', () => {
  it('does not delay the labels of the nodes', async () => {
    const targetRef = { apiVersion: 'example.com/v2', kind: 'Blue', name: 'web' };
    await f.createWatch('web', { maxBandwidthPercent: '10', targetRef });
    await vi.waitFor(async () => expect(await f.labels(key('web'))).toEqual({ n1: 'true', n2: 'false' }), WAIT);
    expect(await answered()).toBe(0);
  });

  it('is asked all the same', async () => {
    await vi.waitFor(async () => expect(await answered()).toBeGreaterThan(0), WAIT);
  });

  it('is named in TargetFound', async () => {
    await vi.waitFor(async () => {
      const { conditions } = (await f.watch('web')).status ?? {};
      const found = conditions?.find(({ type }) => type === 'TargetFound');
      expect(found).toMatchObject({ status: 'False', reason: 'TargetUnreadable' });
      expect(found?.message).toContain('Blue default/web');
    }, WAIT);
  });
});
