import { readFileSync } from 'node:fs';
import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isWorkload, type TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { servedIn } from './client.ts';
import { disorderIn, EXPECTED, isHeldBy, notReplaced, removalDisorderIn, urlsOf, withTag } from './openSdn.ts';

const MASTERS = 3;
const TEXT = readFileSync(new URL('../../../deploy/samples/opensdn.yaml', import.meta.url), 'utf8');
const [, sample] = parseAllDocuments(TEXT).map((document) => document.toJS() as TrafficStack);
const workloads = sample!.spec.components.filter(isWorkload);

/**
 * As in the operator that this replaces: who waits for whom, and the pods and containers of its example with three masters and three
 * workers. Where it differs is in docs/stack.md.
 */
const ORIGINAL: Readonly<Record<string, readonly [workload: string, pods: number, containers: number, on: string[]]>> =
  {
    zookeeper: ['zookeeper1-zookeeper-statefulset', 3, 1, []],
    cassandra: ['cassandra1-cassandra-statefulset', 3, 1, []],
    rabbitmq: ['rabbitmq1-rabbitmq-statefulset', 3, 1, []],
    config: ['config1-config-statefulset', 3, 10, ['cassandra', 'rabbitmq', 'zookeeper']],
    control: ['control1-control-statefulset', 3, 4, ['cassandra', 'config', 'rabbitmq']],
    kubemanager: ['kubemanager1-kubemanager-statefulset', 3, 2, ['cassandra', 'config', 'rabbitmq', 'zookeeper']],
    provmanager: ['provmanager1-provisionmanager-statefulset', 1, 1, ['config']],
    webui: ['webui1-webui-statefulset', 3, 3, ['cassandra', 'config', 'control']],
    'vrouter-masters': ['vroutermasternodes-vrouter-daemonset', 3, 1, ['control']],
    'vrouter-workers': ['vrouterworkernodes-vrouter-daemonset', 3, 1, ['control']],
  };

describe('the sample', () => {
  it('has the components, pods and dependencies of the original', () => {
    const components = workloads.map(({ name, dependsOn = [], workload }) => [
      name,
      [
        workload.name,
        workload.replicas ?? MASTERS,
        workload.podTemplate?.spec?.containers.length,
        dependsOn.toSorted(),
      ],
    ]);
    expect(Object.fromEntries(components)).toEqual(ORIGINAL);
    expect(sample!.spec.components).toHaveLength(workloads.length);
  });

  it('is what the demo waits for', () => {
    const table = Object.values(ORIGINAL).map(([workload, pods, containers]) => [workload, [pods, containers]]);
    expect(EXPECTED).toEqual(Object.fromEntries(table));
  });

  it.each(workloads)('$name has stand-ins that ask all that it depends on', ({ dependsOn = [], workload }) => {
    const needs = workload.config?.[0]?.files.needs ?? '';
    const asked = [...needs.matchAll(/^(\S+) \$\{components\.(\S+?)\.addresses/gm)];
    expect(asked.map(([, name]) => name).toSorted()).toEqual(dependsOn.toSorted());
    expect(asked.map(([, , component]) => component).toSorted()).toEqual(dependsOn.toSorted());
    for (const { command } of workload.podTemplate?.spec?.containers ?? [])
      expect(command?.slice(0, 2)).toEqual(['sh', '/etc/opensdn/start']);
  });

  it('has one image, which the demo replaces everywhere', () => {
    const [, changed] = parseAllDocuments(withTag(TEXT, '1.37')).map((document) => document.toJS() as TrafficStack);
    const images = changed!.spec.components.flatMap(({ workload }) =>
      workload?.podTemplate?.spec?.containers.map(({ image }) => image),
    );
    expect(new Set(images)).toEqual(new Set(['docker.io/library/busybox:1.37']));
    expect(() => withTag(TEXT.replaceAll('busybox:1.36', 'busybox:1.38'), '1.37')).toThrow('has no image busybox:1.36');
  });

  it('has a Service to ask for each component with several pods', () => {
    const several = Object.entries(ORIGINAL).filter(([name, [, pods]]) => pods > 1 && !name.startsWith('vrouter'));
    expect([...urlsOf(sample!, MASTERS).keys()]).toEqual(several.map(([name]) => name));
  });
});

/** A pod of a component. @param node node1 unless told */
function pod(component: string, uid: string, { tag = '1.37', node = 'node1', ends = false, created = 0 } = {}): V1Pod {
  return {
    metadata: {
      ...{ name: `${component}-${uid}`, uid, labels: { 'traffic.example.com/component': component } },
      creationTimestamp: new Date(created),
      ...(ends && { deletionTimestamp: new Date(0) }),
    },
    spec: { nodeName: node, containers: [{ name: component, image: `docker.io/library/busybox:${tag}` }] },
  };
}

describe('what the demo finds', () => {
  it('a pod that an upgrade has left as it was', () => {
    expect(notReplaced([pod('config', 'b')], [pod('config', 'a', { tag: '1.36' })], '1.37')).toEqual([]);
    expect(notReplaced([pod('config', 'a')], [pod('config', 'a', { tag: '1.36' })], '1.37')).toEqual(['config-a']);
    expect(notReplaced([pod('config', 'b', { tag: '1.36' })], [], '1.37')).toEqual(['config-b']);
  });

  it('a pod that is older than what it depends on', () => {
    const databases = ['cassandra', 'rabbitmq', 'zookeeper'].map((name) => pod(name, 'a', { created: 2_000 }));
    const created = (at: number) => disorderIn(sample!, [...databases, pod('config', 'a', { created: at })]);
    expect(created(2_000)).toEqual([]);
    expect(created(1_000)).toContain('config began before cassandra');
  });

  it('a component that ends before what depends on it', () => {
    const control = (ends: boolean) => [pod('control', 'a', { ends }), pod('vrouter-masters', 'a', { ends: true })];
    expect(removalDisorderIn(sample!, [...control(false), pod('config', 'a')])).not.toContain(
      'control ended before vrouter-masters',
    );
    expect(removalDisorderIn(sample!, control(true))).toContain('control ended before vrouter-masters');
    expect(removalDisorderIn(sample!, [pod('vrouter-masters', 'a')])).toEqual(['control ended before vrouter-masters']);
    expect(removalDisorderIn(sample!, [])).toEqual([]);
  });

  it('a removal that a node holds up', () => {
    const others = [pod('control', 'a'), pod('config', 'a')];
    expect(isHeldBy('node3', sample!, [...others, pod('webui', 'c', { node: 'node3' })])).toBe(true);
    expect(isHeldBy('node3', sample!, [...others, pod('webui', 'c', { node: 'node3' }), pod('webui', 'a')])).toBe(
      false,
    );
    expect(isHeldBy('node3', sample!, others)).toBe(false);
  });

  it('a request that failed twice, and a component that has not answered', () => {
    const log =
      'service ok config\npods retried config\nTerminated\nservice failed control wget: a; wget: b\nservice retried webui\n';
    expect(servedIn(log, 'service')).toEqual({
      requests: 3,
      answered: new Set(['config', 'webui']),
      retried: 1,
      failures: ['control (wget: a; wget: b)'],
    });
    expect(servedIn(log, 'pods').failures).toEqual([]);
  });
});
