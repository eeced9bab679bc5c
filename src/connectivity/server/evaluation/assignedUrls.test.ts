import { beforeEach, expect, it } from 'vitest';
import { podOf, Scene } from './testing/scene.ts';

const [ALL, SOME] = ['http://all/', 'http://some/'] as const;
let scene: Scene;

beforeEach(() => {
  scene = new Scene(['n1', 'n2']);
  scene.nodes.objects = ['n1', 'n2'].map((name) => ({ ...scene.node(name), labels: { of: name } }));
  scene.checks.objects = [
    { metadata: { name: 'all' }, spec: { planes: ['Pod'], probes: { urls: [ALL] } } },
    {
      metadata: { name: 'some' },
      spec: { nodeSelector: { matchLabels: { of: 'n2' } }, planes: ['Pod'], probes: { urls: [SOME] } },
    },
  ];
});

const urlsOf = (podname: string, nodename: string): readonly string[] =>
  scene.connectivity.urlsOf({ podname, nodename });

it('has the URLs of the checks that select the node of an agent', () => {
  expect(urlsOf(podOf('n1'), 'n1')).toEqual([ALL]);
  expect(urlsOf(podOf('n2'), 'n2')).toEqual([ALL, SOME]);
});

it('has none for a pod that is not the agent of the node, and while the checks are not read', () => {
  expect(urlsOf(podOf('n1'), 'n2')).toEqual([]);
  expect(urlsOf('another', 'n1')).toEqual([]);
  scene.checks.synced = false;
  expect(urlsOf(podOf('n1'), 'n1')).toEqual([]);
});
