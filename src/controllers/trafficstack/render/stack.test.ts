import { describe, expect, it } from 'vitest';
import type { ComponentSpec, WorkloadSpec } from '../../../api/trafficstack/trafficStack.ts';
import { db, NODES, objects, problems, workload } from '../testing/rendering.ts';
import { component, rendered, stackOf } from '../testing/stacks.ts';
import { renderStack } from './stack.ts';

it('two components with one object, and one that has it twice, are reported', () => {
  const twice = { ...component('api').workload, services: [{ ports: [{ port: 1 }] }, { ports: [{ port: 2 }] }] };
  const site = component('site', { workload: { ...component('x').workload, name: 'web' } });
  expect(problems([component('web'), site, component('api', { workload: twice })])).toEqual([
    'Deployment shop/web is of web and of site',
    'Service shop/api is of api and of api',
  ]);
});

it('objects of a component are its Services before its workload, with its labels and owner', () => {
  const services = [
    { name: 'peers', headless: true, ports: [{ port: 1 }] },
    { ports: [{ name: 'a', port: 80, targetPort: 8080 }] },
  ];
  const spec = component('db', {
    workload: { ...component('db').workload, kind: 'StatefulSet', name: 'data', services },
  });
  const { objects: all } = rendered(spec, stackOf([spec]));
  expect(all.map(({ resource, object }) => `${resource.kind} ${object.metadata?.name}`)).toEqual([
    'Service peers',
    'Service data',
    'StatefulSet data',
  ]);
  const labels = { 'traffic.example.com/stack': 'main', 'traffic.example.com/component': 'db' };
  for (const { object } of all) {
    expect(object.metadata).toMatchObject({ labels, ownerReferences: [{ uid: 'stack-uid', controller: true }] });
  }
  expect(all.map(({ object }) => (object as { spec?: object }).spec)).toMatchObject([
    { clusterIP: 'None', selector: labels, ports: [{ port: 1, targetPort: 1 }] },
    { selector: labels, ports: [{ name: 'a', port: 80, targetPort: 8080 }] },
    { serviceName: 'peers', replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels } } },
  ]);
});

it('objects of another owner have names, and nothing that would be written', () => {
  const spec = db({ podTemplate: undefined });
  const stack = stackOf([spec]);
  // That no node is selected is no problem either.
  stack.spec.highAvailability = { nodeSelector: { role: 'master' } };
  const { objects: all } = rendered({ ...spec, mode: 'External' }, stack);
  const metadata = { name: 'db', namespace: 'shop' };
  expect(all.map(({ object }) => object)).toEqual([
    { apiVersion: 'v1', kind: 'Service', metadata },
    { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
  ]);
  const external = { ...component('db', { mode: 'External' }), workload: workload({ replicas: undefined }) };
  expect(problems([external], stack.spec, 0)).toEqual([]);
});

it('an invalid expression is reported before anything is written', () => {
  expect(problems([component('web', { ready: { expression: 'workload.status.readyReplicas >' } })])).toEqual([
    'component web, ready.expression: Unexpected token: EOF',
  ]);
  expect(problems([component('web', { ready: { expression: 'size(services) == 0 && nope' } })])).toEqual([
    'component web, ready.expression: Unknown variable: nope',
  ]);
});

describe('what all pods have', () => {
  const common = {
    nodeSelector: { disk: 'ssd', zone: 'a' },
    tolerations: [{ key: 'one', operator: 'Exists' }],
    imagePullSecrets: [{ name: 'pull' }],
    priorityClassName: 'high',
    logLevel: 'debug' as const,
  };
  const podOf = (spec: ComponentSpec) =>
    (objects([spec], { common }).get('Deployment') as { spec: { template: { spec: object } } }).spec.template.spec;

  it('is added to their templates', () => {
    expect(podOf(component('web'))).toMatchObject({
      ...{ nodeSelector: common.nodeSelector, tolerations: common.tolerations },
      ...{ imagePullSecrets: common.imagePullSecrets, priorityClassName: 'high' },
    });
  });

  it('gives way to what a template says', () => {
    const own = {
      ...{ nodeSelector: { zone: 'b' }, tolerations: [{ key: 'two' }], imagePullSecrets: [{ name: 'mine' }] },
      ...{ priorityClassName: 'low', containers: [] },
    };
    expect(podOf(component('web', { workload: workload({ podTemplate: { spec: own } }) }))).toMatchObject({
      nodeSelector: { disk: 'ssd', zone: 'b' },
      tolerations: [{ key: 'one', operator: 'Exists' }, { key: 'two' }],
      ...{ imagePullSecrets: [{ name: 'mine' }], priorityClassName: 'low' },
    });
  });
});

describe('high availability', () => {
  const highAvailability = { nodeSelector: { role: 'master' } };
  const unset = workload({ replicas: undefined });
  const free = component('web', { workload: unset });
  // Other pods, also pods of a component with this name in another stack, must not count.
  const ownPods = {
    matchLabels: { 'traffic.example.com/stack': 'main', 'traffic.example.com/component': 'web' },
  };

  /** Nodes, or whatever has the label, without a pod of the component. */
  const preferring = (topologyKey: string) => ({
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, podAffinityTerm: { topologyKey, labelSelector: ownPods } },
    ],
  });

  it('gives a pod to each selected node, spreads them, and lets drains take one at a time', () => {
    const all = objects([free], { highAvailability });
    expect(all.get('Deployment')).toMatchObject({
      spec: {
        replicas: NODES,
        template: {
          spec: {
            nodeSelector: { role: 'master' },
            topologySpreadConstraints: [
              {
                ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' },
                ...{ nodeTaintsPolicy: 'Honor', matchLabelKeys: ['pod-template-hash'] },
              },
            ],
          },
        },
      },
    });
    expect(all.get('PodDisruptionBudget')).toMatchObject({
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    });
    // toMatchObject would let it have more labels, with which it has no pods.
    expect(all.get('PodDisruptionBudget')).toHaveProperty('spec.selector', ownPods);
    const template = 'spec.template.spec';
    expect(all.get('Deployment')).toHaveProperty(`${template}.topologySpreadConstraints.0.labelSelector`, ownPods);
    expect(all.get('Deployment')).toHaveProperty(
      `${template}.affinity.podAntiAffinity`,
      preferring('kubernetes.io/hostname'),
    );
  });

  it('has a number and a label of its own if the stack says so', () => {
    const all = objects([free], { highAvailability: { replicas: 5, topologyKey: 'zone' } });
    expect(all.get('Deployment')).toMatchObject({
      spec: { replicas: 5, template: { spec: { topologySpreadConstraints: [{ topologyKey: 'zone' }] } } },
    });
    expect(all.get('Deployment')).toHaveProperty('spec.template.spec.affinity.podAntiAffinity', preferring('zone'));
  });

  it('leaves the replicas and the placement of a component that has its own, and budgets no single pod', () => {
    const podTemplate = { spec: { containers: [], topologySpreadConstraints: [], affinity: { podAntiAffinity: {} } } };
    const all = objects([component('web', { workload: workload({ replicas: 1, podTemplate }) })], { highAvailability });
    expect(all.get('PodDisruptionBudget')).toBeUndefined();
    expect(all.get('Deployment')).toMatchObject({
      spec: { replicas: 1, template: { spec: { topologySpreadConstraints: [], affinity: { podAntiAffinity: {} } } } },
    });
  });

  it.each([
    ['a component that does not want it', { ...free, highAvailability: false }, 'Deployment'],
    ['a DaemonSet', component('web', { workload: { ...unset, kind: 'DaemonSet' as const } }), 'DaemonSet'],
  ])('is not for %s', (__, spec, kind) => {
    const all = objects([spec], { highAvailability });
    expect(all.get('PodDisruptionBudget')).toBeUndefined();
    expect(JSON.stringify(all.get(kind))).not.toMatch(/topologyKey|replicas|master/);
  });

  it('counts the nodes that the pods may run on', () => {
    const counted: object[] = [];
    const count = (labels: object): number => counted.push(labels);
    const podTemplate = { spec: { containers: [], nodeSelector: { role: 'other' } } };
    const spec = { highAvailability, common: { nodeSelector: { pool: 'infra', role: 'none' } } };
    const own = component('own', { workload: { ...unset, podTemplate } });
    renderStack(stackOf([]), spec, [free, own], { countNodes: count, builtIns: [] });
    expect(counted).toEqual([
      { pool: 'infra', role: 'master' },
      { pool: 'infra', role: 'other' },
    ]);
  });

  it('on no node is a problem, and not no pods', () => {
    expect(problems([free], { highAvailability }, 0)).toEqual([
      'component web: no node has all labels that its pods select: role=master',
    ]);
    const none = component('web', { workload: workload({ replicas: 0 }) });
    expect(problems([none], { highAvailability }, 0)).toEqual([]);
  });
});

it('claims of a StatefulSet stay when it is removed, unless the policy is Delete', () => {
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: { resources: { requests: { storage: '1Gi' } } } }];
  const retention = (over: Partial<WorkloadSpec>) => {
    const { spec } = objects([db({ volumeClaimTemplates, ...over })]).get('StatefulSet') as { spec: object };
    return spec;
  };
  expect(retention({})).toMatchObject({
    volumeClaimTemplates,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  });
  expect(retention({ volumeClaimPolicy: 'Delete' })).toMatchObject({
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
  });
});
