import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { V1PodSpec } from '@kubernetes/client-node';
import type { WorkloadComponent } from '../../../src/api/trafficstack/trafficStack.ts';
import { PODS } from '../../../src/runtime/client/resources.ts';
import { NODE } from './kubelet.ts';
import { component, startScene, WAIT, type StackScene } from './scene.ts';

/** A node that is off, with the real controllers of nodes and of evictions. */
const USER = 'stack-dead-node';
const N2 = 'n2';
/** On a busy machine, the heartbeats are late. */
const NOT_READY_AFTER_S = 10;
/** The status has to name the pod before that. */
const EVICTED_AFTER_S = 30;
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER, {
    controllers: ['node-lifecycle-controller', 'taint-eviction-controller'],
    controllerArgs: [
      ...['--node-monitor-period=1s', `--node-monitor-grace-period=${NOT_READY_AFTER_S}s`],
      '--node-startup-grace-period=1h',
    ],
  });
  await s.f.addNode(N2);
  // With all nodes off, Kubernetes evicts nothing.
  for (const each of [NODE, N2]) s.kubelet.beating.add(each);
  await s.startOperator();
});
afterAll(() => s.stop());

/** A component with pods on n2 that end in a second, if their kubelet says so. */
function onN2(name: string, over: Parameters<typeof component>[1], tolerationSeconds?: number): WorkloadComponent {
  const made = component(name, over);
  const { podTemplate } = made.workload;
  const away = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
  const tolerations = [{ ...away, ...(tolerationSeconds !== undefined && { tolerationSeconds }) }];
  const spec = { ...podTemplate?.spec, nodeName: N2, terminationGracePeriodSeconds: 1, tolerations } as V1PodSpec;
  return { ...made, workload: { ...made.workload, podTemplate: { ...podTemplate, spec } } };
}

const DB = onN2('db', { kind: 'StatefulSet', workload: { replicas: 2 } }, EVICTED_AFTER_S);
/** Not evicted. A DaemonSet would ask for no pod on n2 then, since it does not tolerate that a node is unreachable. */
const AGENT = onN2('agent', { kind: 'StatefulSet' });
const API = component('api', { dependsOn: ['db'] });
const where = (pod: string, what = 'is') =>
  expect.stringMatching(
    `pod default/${pod} ${what} on node n2, which is NotReady since 20..-..-..T..:..:..Z`,
  ) as string;

it('names the pod and the node, and is as before when the node is back', async () => {
  await s.create('main', [AGENT]);
  await s.ready();
  s.kubelet.off.add(N2);
  await s.becomes('agent', { state: 'Degraded', reason: 'NodeNotReady', message: where('agent-0') });
  s.kubelet.off.delete(N2);
  await s.ready();
});

it('names the node in place of what its pods said before, also if they do not change', async () => {
  // Of the image, not of the component: the pod before must not have it, since that one is ending from the next moment on.
  s.kubelet.brokenImages.set('agent:2', {
    reason: 'ImagePullBackOff',
    message: 'Back-off pulling image "agent:2"',
  });
  const podTemplate = AGENT.workload.podTemplate;
  const containers = [{ name: 'agent', image: 'agent:2' }];
  const changed = { ...podTemplate, spec: { ...podTemplate?.spec, containers } };
  await s.change('main', [{ ...AGENT, workload: { ...AGENT.workload, podTemplate: changed } }]);
  await s.becomes('agent', { reason: 'ImagePullBackOff' });
  s.kubelet.off.add(N2);
  await s.becomes('agent', { reason: 'NodeNotReady', message: where('agent-0') });
  s.kubelet.brokenImages.delete('agent:2');
  s.kubelet.off.delete(N2);
  await s.ready();
});

it('names a pod that is evicted and cannot end, also to what waits for its component', async () => {
  await s.change('main', [DB, API]);
  await s.ready();
  s.kubelet.off.add(N2);
  await s.becomes('db', { state: 'Degraded', reason: 'NodeNotReady', message: where('db-0') });
  await s.becomes('db', { state: 'Degraded', reason: 'NodeNotReady', message: where('db-0', 'is ending') });
  await s.change('main', [DB, API, component('web', { dependsOn: ['db'] })]);
  const waitingOn = { component: 'db', observed: where('db-0', 'is ending') };
  await s.becomes('web', { state: 'Waiting', waitingOn });
  // What it depends on is as it was before.
  await s.becomes('api', { state: 'Ready' });
});

it('names it in a removal, which goes on when the node is back', async () => {
  await s.change('main', [component('api')]);
  await s.becomes('db', {
    ...{ state: 'Removing' },
    message: expect.stringMatching(/^its pods are ending; pod default\/db-0 is ending on node n2, /) as string,
  });
  s.kubelet.off.delete(N2);
  await vi.waitFor(async () => {
    expect((await s.f.client.list(PODS)).filter(({ spec }) => spec?.nodeName === N2)).toEqual([]);
    expect((await s.stack()).status?.components?.map(({ name }) => name)).toEqual(['api']);
  }, WAIT);
});
