import type { V1Deployment } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it } from 'vitest';
import { Applier } from '../../src/runtime/apply/apply.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { useConnectedPlane } from './connectedPlane.ts';

const FIELD_MANAGER = 'traffic-operator-test';

const scene = useConnectedPlane();

describe('server-side apply on a real API server', () => {
  let count = 0;
  let name: string;
  let desired: V1Deployment;

  beforeEach(() => {
    name = `web-${++count}`;
    desired = deployment(name);
  });

  /** A new applier, as after a restart: it remembers nothing. */
  const applier = (): Applier =>
    new Applier({ client: scene.connected.client, fieldManager: FIELD_MANAGER, logger: createLogger('silent') });
  const live = (): Promise<V1Deployment> => scene.connected.client.get(DEPLOYMENTS, { namespace: 'default', name });
  const byOthers = (patch: unknown): Promise<V1Deployment> =>
    scene.connected.client.mergePatch(DEPLOYMENTS, { namespace: 'default', name }, patch, {
      fieldManager: 'kubectl-edit',
    });
  const apply = async (using: Applier, what = desired): Promise<boolean> =>
    (await using.apply(DEPLOYMENTS, what, await live())).written;
  const create = async (using: Applier): Promise<void> => {
    expect(await using.apply(DEPLOYMENTS, desired, undefined)).toMatchObject({ written: true });
  };

  it('writes once, and not again for defaults that the server sets', async () => {
    const using = applier();
    await create(using);
    const version = (await live()).metadata!.resourceVersion;
    expect([await apply(using), await apply(using)]).toEqual([false, false]);
    expect((await live()).metadata!.resourceVersion).toBe(version);
  });

  it('writes nothing after a restart, also if quantities have another notation', async () => {
    await create(applier());
    const container = (await live()).spec!.template.spec!.containers[0]!;
    expect(container.resources!.limits).toEqual({ cpu: '1', memory: '1Gi' });
    expect(await apply(applier())).toBe(false);
  });

  it('corrects drift', async () => {
    const using = applier();
    await create(using);
    await byOthers({ spec: { replicas: 7 } });
    expect(await apply(using)).toBe(true);
    expect((await live()).spec!.replicas).toBe(2);
    expect(await apply(using)).toBe(false);
  });

  it('restores removed fields, also a named item of a list', async () => {
    const using = applier();
    await create(using);
    await byOthers({ metadata: { labels: null }, spec: { template: { spec: { containers: [container('main')] } } } });
    expect(await apply(using)).toBe(true);
    expect((await live()).metadata!.labels).toEqual({ app: 'web' });
    expect((await live()).spec!.template.spec!.containers[0]!.env).toHaveLength(2);
  });

  it('removes fields that it no longer wants, also after a restart', async () => {
    await create(applier());
    const less = structuredClone(desired);
    delete less.spec!.replicas;
    less.spec!.template.spec!.containers[0]!.env!.pop();
    expect(await apply(applier(), less)).toBe(true);
    const now = await live();
    // The default of replicas is 1.
    expect(now.spec!.replicas).toBe(1);
    expect(now.spec!.template.spec!.containers[0]!.env).toEqual([{ name: 'A', value: '1' }]);
    expect(await apply(applier(), less)).toBe(false);
  });

  it('leaves other managers’ fields alone, also when it writes', async () => {
    const using = applier();
    await create(using);
    await byOthers({ metadata: { annotations: { note: 'theirs' } }, spec: { paused: true } });
    expect(await apply(using)).toBe(false);
    const more = structuredClone(desired);
    more.spec!.replicas = 3;
    expect(await apply(using, more)).toBe(true);
    const now = await live();
    expect([now.spec!.paused, now.metadata!.annotations!.note]).toEqual([true, 'theirs']);
  });

  it('does not loop if the server stores a value differently', async () => {
    // The server does not store an empty string.
    desired.spec!.template.spec!.hostname = '';
    const using = applier();
    await create(using);
    expect([await apply(using), await apply(using)]).toEqual([false, false]);
    await byOthers({ spec: { template: { spec: { hostname: 'theirs' } } } });
    expect(await apply(using)).toBe(true);
  });
});

function container(name: string): object {
  return { name, image: 'web:1' };
}

function deployment(name: string): V1Deployment {
  const labels = { app: 'web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'main',
              image: 'web:1',
              ports: [{ containerPort: 80 }],
              env: [
                { name: 'A', value: '1' },
                { name: 'B', value: '2' },
              ],
              resources: { limits: { cpu: '1000m', memory: '1024Mi' } },
            },
          ],
          volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '1024Ki' } }],
          tolerations: [{ operator: 'Exists' }],
        },
      },
    },
  };
}
