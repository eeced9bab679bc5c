import { expect, it } from 'vitest';
import { Renderings } from './desired.ts';
import type { UsedServers } from './render/builtIn.ts';
import { component, stackOf } from './testing/stacks.ts';

const web = component('web', { workload: { ...component('web').workload, replicas: undefined } });
const spec = { highAvailability: { nodeSelector: { role: 'master' } }, components: [web] };

it('a stack is rendered once for a generation, a number of nodes, and the servers that are used', () => {
  let nodes = 2;
  const renderings = new Renderings({ countNodes: () => nodes, builtIns: [] });
  const render = (over: object = {}, used?: UsedServers) => {
    const { metadata } = stackOf([]);
    return renderings.render({ spec, metadata: { ...metadata, ...over } }, spec, [web], used);
  };
  const first = render();
  expect(render({ resourceVersion: '2' })).toBe(first);
  nodes = 3;
  const more = render();
  expect(more).not.toEqual(first);
  expect(render({ generation: 3 })).not.toBe(more);
  const again = render();
  expect(render({ uid: 'another' })).not.toBe(again);
  const server = (port: number) => {
    const service = { kind: 'Service', namespace: 'monitoring', name: 'prom', url: `http://prom:${port}` };
    return new Map([['metrics', service]]);
  };
  const withServer = render({}, server(1));
  expect(withServer).not.toBe(again);
  expect(render({}, server(1))).toBe(withServer);
  expect(render({}, server(2))).not.toBe(withServer);
  const last = render();
  renderings.forget('main');
  expect(render()).not.toBe(last);
});
