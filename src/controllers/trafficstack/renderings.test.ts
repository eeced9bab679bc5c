import { expect, it } from 'vitest';
import { Renderings } from './renderings.ts';
import { component, stackOf } from './testing/stacks.ts';

const web = component('web', { workload: { ...component('web').workload, replicas: undefined } });
const spec = { highAvailability: { nodeSelector: { role: 'master' } }, components: [web] };

it('a stack is rendered once for a generation and a number of nodes', () => {
  let nodes = 2;
  const renderings = new Renderings({ countNodes: () => nodes, builtIns: [] });
  const render = (over: object = {}) => {
    const { metadata } = stackOf([]);
    return renderings.render({ spec, metadata: { ...metadata, ...over } }, spec, [web]);
  };
  const first = render();
  expect(render({ resourceVersion: '2' })).toBe(first);
  nodes = 3;
  const more = render();
  expect(more).not.toEqual(first);
  expect(render({ generation: 3 })).not.toBe(more);
  const again = render();
  expect(render({ uid: 'another' })).not.toBe(again);
  const last = render();
  renderings.forget('main');
  expect(render()).not.toBe(last);
});
