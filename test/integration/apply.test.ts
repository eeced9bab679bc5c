import type { EventsV1Event, V1Deployment, V1DeploymentStrategy } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Applier } from '../../src/runtime/apply/apply.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { CONFIG_MAPS, DEPLOYMENTS, EVENTS, NODES } from '../../src/runtime/client/resources.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { EventRecorder } from '../../src/runtime/controller/events.ts';
import type { KubeObject } from '../../src/runtime/client/resource.ts';
import { configMap } from '../harness/runtimeScene.ts';
import { apiContract } from '../../src/runtime/testing/fakeApi/contract.ts';

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

  it('gives a Deployment the strategy Recreate, which the server refuses together with numbers of rolling updates', async () => {
    const using = applier();
    await create(using);
    const recreate = structuredClone(desired);
    // The types of the client know no null.
    recreate.spec!.strategy = { type: 'Recreate', rollingUpdate: null } as unknown as V1DeploymentStrategy;
    expect([await apply(using, recreate), await apply(using, recreate)]).toEqual([true, false]);
    expect((await live()).spec!.strategy).toEqual({ type: 'Recreate' });
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

const metrics = { written: vi.fn(), dropped: vi.fn() };

describe('events on a real API server', () => {
  const recorder = (): EventRecorder =>
    new EventRecorder({
      client: scene.connected.client,
      component: 'traffic.example.com/traffic-operator',
      instance: 'operator-1',
      logger: createLogger('silent'),
      metrics,
    });
  const eventsAbout = async (about: KubeObject): Promise<EventsV1Event[]> => {
    const events = await scene.connected.client.list(EVENTS);
    return events.filter(({ regarding }) => regarding?.uid === about.metadata!.uid);
  };

  it('are accepted, and a repeat is counted in the existing one', async () => {
    const about = await scene.connected.client.create(CONFIG_MAPS, configMap('default', 'a', 'x'));
    const using = recorder();
    for (let repeat = 0; repeat < 3; repeat++) {
      using.event(about, 'Warning', 'NodeUnfit', 'node n is full', 'Label');
      await using.flush();
    }
    using.event(about, 'Normal', 'NodeFit', 'node n is no longer full');
    await using.flush();
    const events = await eventsAbout(about);
    expect(events.find(({ reason }) => reason === 'NodeUnfit')).toMatchObject({
      type: 'Warning',
      note: 'node n is full',
      action: 'Label',
      reportingController: 'traffic.example.com/traffic-operator',
      reportingInstance: 'operator-1',
      regarding: { kind: 'ConfigMap', namespace: 'default', name: 'a' },
      series: { count: 3 },
    });
    expect(events).toHaveLength(2);
    expect(metrics.dropped).not.toHaveBeenCalled();
  });

  it('about cluster-scoped objects, and with too long texts, are accepted', async () => {
    const about = await scene.connected.client.create(NODES, { metadata: { name: 'n'.repeat(63) } });
    const using = recorder();
    using.event(about, 'Normal', 'R'.repeat(200), 'ä'.repeat(2000), 'A'.repeat(200));
    await using.flush();
    expect(await eventsAbout(about)).toMatchObject([{ metadata: { namespace: 'default' }, type: 'Normal' }]);
  });

  it('that had to wait are written with their series', async () => {
    const about = await scene.connected.client.create(CONFIG_MAPS, configMap('default', 'b', 'x'));
    const using = recorder();
    using.event(about, 'Normal', 'First', 'n');
    for (let repeat = 0; repeat < 5; repeat++) using.event(about, 'Normal', 'Second', 'n');
    await using.flush();
    const second = (await eventsAbout(about)).find(({ reason }) => reason === 'Second');
    expect(second!.series!.count).toBe(5);
  });
});

// What unit tests take for granted of the fake API server.
apiContract(() => scene.connected.client);
