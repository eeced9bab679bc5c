import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import { audited } from '../harness/audit.ts';
import { installCrd } from '../harness/customResource.ts';
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
  await installCrd(f.client, blues(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/convert`), BLUES);
  await f.client.create(BLUES, { metadata: { namespace: 'default', name: 'web' }, spec: { replicas: 1 } });
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
    // By the order in which the API server answered, since the labels may be seen late.
    const log = await vi.waitFor(() => {
      const all = audited(f.controlPlane);
      expect(all.map(({ resource }) => resource)).toContain('blues/scale');
      return all;
    }, WAIT);
    const made = log.findLastIndex(({ verb, resource }) => verb === 'create' && resource === 'trafficwatches');
    const answer = log.findIndex(({ resource }) => resource === 'blues/scale');
    const labelled = log.slice(made, answer).filter(({ verb, resource }) => verb === 'patch' && resource === 'nodes');
    expect(labelled.map(({ name }) => name).sort()).toEqual(['n1', 'n2']);
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
