import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isWorkload, type TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { servedIn, type Place } from './client.ts';
import {
  desiredPods,
  EXPECTED,
  isHeldBy,
  misplacedIn,
  notReplaced,
  questionsOf,
  removalDisorderIn,
  restartsOf,
  tableOf,
  vrouterQuestions,
  withTag,
} from './openSdn.ts';

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
    const table = Object.values(ORIGINAL).map(([workload, pods, containers]) => [
      workload,
      Array.from({ length: pods }, () => `${containers}/${containers}`),
    ]);
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

  it('has a Service to ask for each component but vrouter', () => {
    const questions = questionsOf(sample!);
    const namesAt = (place: Place) => questions.filter(({ at }) => at === place).map(({ name }) => name);
    const served = Object.entries(ORIGINAL).filter(([name]) => !name.startsWith('vrouter'));
    const several = served.filter(([, [, pods]]) => pods > 1).map(([name]) => name);
    expect(namesAt('service')).toEqual(several);
    expect(namesAt('pods')).toEqual(several);
    expect(namesAt('single')).toEqual(['provmanager']);
    expect(served).toHaveLength(several.length + 1);
    const urlsOf = (name: string) => questions.filter((each) => each.name === name).map(({ urls }) => urls);
    expect(urlsOf('provmanager')).toEqual([['http://provmanager.contrail.svc:8109/etc/passwd']]);
    expect(urlsOf('webui')).toEqual([
      ['http://webui.contrail.svc:8143/etc/passwd'],
      [0, 1, 2].map((n) => `http://webui1-webui-statefulset-${n}.webui-pods.contrail.svc:8143/etc/passwd`),
    ]);
  });

  it('has the number of pods that the original has', () => {
    const pods = Object.entries(ORIGINAL).map(([name, [, count]]) => [name, count]);
    expect(desiredPods(sample!)).toEqual(Object.fromEntries(pods));
  });
});

describe('the stand-in', () => {
  const [script, ...others] = workloads.map(({ workload }) => workload.config?.[0]?.files.start ?? '');
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'opensdn-'));
    program('timeout', '[ "$1" = 2 ] && shift && exec "$@"');
    // The last argument is the URL.
    program('wget', `for url; do :; done; echo "$url" >>${directory}/asked; case $url in *down*) exit 1 ;; esac`);
    for (const each of ['httpd', 'sleep']) program(each, `echo ${each} "$@" >${directory}/started`);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const program = (name: string, body: string): void =>
    writeFileSync(join(directory, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const written = (name: string): string =>
    existsSync(join(directory, name)) ? readFileSync(join(directory, name), 'utf8') : '';

  /** Runs the script of the sample. @param needs the file with the addresses */
  function start(needs: string, ...args: readonly string[]): { status: number | null; said: string; started: string } {
    writeFileSync(join(directory, 'needs'), needs);
    const text = script!.replace('/etc/opensdn/needs', join(directory, 'needs'));
    writeFileSync(join(directory, 'start'), text);
    const env = { PATH: `${directory}${delimiter}${process.env.PATH}` };
    const { status, stdout } = spawnSync('sh', [join(directory, 'start'), ...args], { env, encoding: 'utf8' });
    return { status, said: stdout, started: written('started') };
  }

  it('is the same in all components', () => {
    expect(script).toContain('/etc/opensdn/needs');
    expect(others).toEqual(others.map(() => script));
  });

  it.each([
    ['nothing is needed', ''],
    ['all answer', 'config http://config-0:1\nrabbitmq http://rabbitmq-0:1 http://rabbitmq-1:1\n'],
    ['one pod of each answers', 'config http://down:1 http://config-1:1\nrabbitmq http://down:1 http://rabbitmq-1:1\n'],
  ])('serves on its port when %s', (_when, needs) => {
    expect(start(needs, '8083')).toEqual({ status: 0, said: '', started: 'httpd -f -p 8083 -h /\n' });
  });

  it('waits without a port', () => {
    expect(start('config http://config-0:1\n')).toEqual({ status: 0, said: '', started: 'sleep infinity\n' });
    expect(written('asked')).toBe('http://config-0:1/etc/passwd\n');
  });

  it.each([
    ['only', 'config http://down-0:1 http://down-1:1\n'],
    ['first', 'config http://down-0:1 http://down-1:1\nrabbitmq http://rabbitmq-0:1\n'],
    ['last', 'rabbitmq http://rabbitmq-0:1\nconfig http://down-0:1 http://down-1:1\n'],
  ])('exits when no pod of the %s component that it needs answers', (_which, needs) => {
    const said = 'config does not answer at http://down-0:1 http://down-1:1\n';
    expect(start(needs, '8083')).toEqual({ status: 1, said, started: '' });
  });

  it('exits when the address of what it needs is not known', () => {
    expect(start('config \n', '8083')).toMatchObject({ status: 1, started: '' });
  });
});

const containerStatus = (over: Partial<V1ContainerStatus>): V1ContainerStatus => ({
  ...{ name: 'main', image: '', imageID: '', ready: true, restartCount: 0 },
  ...over,
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
    status: { containerStatuses: [containerStatus({})] },
  };
}

describe('what the demo finds', () => {
  it('a pod that an upgrade has left as it was', () => {
    expect(notReplaced([pod('config', 'b')], [pod('config', 'a', { tag: '1.36' })], '1.37')).toEqual([]);
    expect(notReplaced([pod('config', 'a')], [pod('config', 'a', { tag: '1.36' })], '1.37')).toEqual(['config-a']);
    expect(notReplaced([pod('config', 'b', { tag: '1.36' })], [], '1.37')).toEqual(['config-b']);
  });

  it('a pod on a node of the other kind, and two of one workload on one node', () => {
    const masters = ['node1', 'node2', 'node3'];
    const right = [
      ...masters.flatMap((node) => [pod('config', node, { node }), pod('vrouter-masters', node, { node })]),
      ...['node4', 'node5'].map((node) => pod('vrouter-workers', node, { node })),
    ];
    expect(misplacedIn(right, masters)).toEqual([]);
    const wrong = [pod('config', 'a', { node: 'node4' }), pod('vrouter-workers', 'b', { node: 'node3' })];
    expect(misplacedIn(wrong, masters)).toEqual(['config-a is on node4', 'vrouter-workers-b is on node3']);
    expect(misplacedIn([pod('config', 'a'), pod('config', 'b')], masters)).toEqual(['config has two pods on node1']);
  });

  it.each([0, 1, 2])('pod %i of a workload that is not ready', (number) => {
    const all = ['0', '1', '2'].map((uid) => pod('control', uid));
    expect(tableOf(all)).toEqual({ control: ['1/1', '1/1', '1/1'] });
    all[number]!.status = { containerStatuses: [containerStatus({ ready: false })] };
    expect(tableOf(all)).toEqual({ control: ['1/1', '1/1', '1/1'].with(number, '0/1') });
    all[number]!.spec!.containers.push({ name: 'another' });
    expect(tableOf(all).control?.[number]).toBe('0/2');
  });

  it('a container that was restarted, except containers of a node that is off', () => {
    const restarted = { containerStatuses: [containerStatus({ restartCount: 1 })] };
    const all = [pod('config', 'a'), pod('config', 'b'), pod('config', 'c', { node: 'node3' })];
    expect(restartsOf(all)).toEqual([]);
    for (const each of all.slice(1)) each.status = restarted;
    expect(restartsOf(all)).toEqual(['config-b/main', 'config-c/main']);
    expect(restartsOf(all, 'node3')).toEqual(['config-b/main']);
  });

  it('the vrouters of all nodes but the one that is going to be off', () => {
    const vrouter = (component: string, node: string, podIP: string): V1Pod => {
      const made = pod(component, node, { node });
      const probe = { readinessProbe: { tcpSocket: { port: 8085 } } };
      return { ...made, spec: { ...made.spec, containers: [{ name: 'vrouter', ...probe }] }, status: { podIP } };
    };
    const all = [
      vrouter('vrouter-masters', 'node2', '10.0.2.1'),
      vrouter('vrouter-masters', 'node3', '10.0.3.1'),
      vrouter('vrouter-workers', 'node4', '10.0.4.1'),
    ];
    expect(vrouterQuestions([...all, pod('config', 'a')], 'node3')).toEqual([
      { at: 'vrouter', name: 'node2', urls: ['http://10.0.2.1:8085/etc/passwd'] },
      { at: 'vrouter', name: 'node4', urls: ['http://10.0.4.1:8085/etc/passwd'] },
    ]);
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
    const served = servedIn(log);
    expect(served.service).toEqual({
      requests: 3,
      answered: new Set(['config', 'webui']),
      retried: 1,
      failures: ['control (wget: a; wget: b)'],
    });
    expect(served.pods).toEqual({ requests: 1, answered: new Set(['config']), retried: 1, failures: [] });
    expect(served.vrouter.requests).toBe(0);
  });
});
