import { expect, it } from 'vitest';
import type { NodeAddresses } from '../../../nodes/nodeAddress.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { NodeListeners } from './probes.ts';

const LISTENER = { port: 9100, path: '/metrics?x', contains: 'node_network', ownPods: '' };
const node = (name: string, ...addresses: string[]): NodeAddresses => ({ name, addresses: [name, ...addresses] });

function scene(nodes = [node('b', '10.0.0.2'), node('a', 'a.example.com', 'fd00::1'), node('c')]) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const pages = new Map<string, string>();
  const get = (url: string): Promise<string> => {
    asked.push(url);
    const page = pages.get(url);
    if (page === 'hangs') return new Promise(() => undefined);
    return page === undefined ? Promise.reject(new Error('ECONNREFUSED')) : Promise.resolve(page);
  };
  return { clock, asked, pages, listeners: new NodeListeners({ clock, nodes: () => nodes, get }) };
}

it('asks the nodes that have an IP address', async () => {
  const { asked, pages, listeners } = scene();
  pages.set('http://10.0.0.2:9100/metrics?x', 'node_network 1');
  expect(await listeners.ask(LISTENER)).toEqual({ port: 9100, queried: 2, answering: ['b'] });
  expect(asked).toEqual(['http://[fd00::1]:9100/metrics?x', 'http://10.0.0.2:9100/metrics?x']);
});

it('another program on the port is no answer', async () => {
  const { pages, listeners } = scene();
  pages.set('http://10.0.0.2:9100/metrics?x', 'hello');
  expect(await listeners.ask(LISTENER)).toMatchObject({ answering: [] });
});

it('does not ask a node that cannot be measured', async () => {
  const windows: NodeAddresses = { ...node('w', '10.0.0.9'), neverMeasured: { reason: 'NotMeasurable', message: '' } };
  expect(await scene([windows]).listeners.ask(LISTENER)).toMatchObject({ queried: 0 });
});

it('asks ten nodes of a large cluster, the first by name', async () => {
  const nodes = Array.from({ length: 30 }, (_, n) => node(`n${30 - n}`, '10.0.0.1'));
  const { asked, listeners } = scene(nodes);
  expect(await listeners.ask(LISTENER)).toMatchObject({ queried: 10 });
  expect(asked).toHaveLength(10);
});

it('waits 3 s for an answer', async () => {
  const { clock, pages, listeners } = scene();
  pages.set('http://10.0.0.2:9100/metrics?x', 'hangs');
  const found = listeners.ask(LISTENER);
  await clock.advance(3_000);
  expect(await found).toMatchObject({ queried: 2, answering: [] });
});

it('asks each node once in 5 s', async () => {
  const { clock, asked, listeners } = scene();
  await Promise.all([listeners.ask(LISTENER), listeners.ask(LISTENER)]);
  expect(asked).toHaveLength(2);
  await clock.advance(5_000);
  await listeners.ask(LISTENER);
  expect(asked).toHaveLength(4);
});
