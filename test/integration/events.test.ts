import type { EventsV1Event } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { EventRecorder } from '../../src/runtime/controller/events.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import type { KubeObject } from '../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, EVENTS, NODES } from '../../src/runtime/client/resources.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { configMap } from '../harness/runtimeScene.ts';

const scene = useConnectedPlane();
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
    using.event(about, 'Normal', 'NodeFit', 'node n is not full any more');
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
