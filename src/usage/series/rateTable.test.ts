import { describe, expect, it } from 'vitest';
import { RateTable } from './rateTable.ts';

/** Reads an answer with the rate of each device by node. */
function read(table: RateTable, answer: Record<string, Record<string, number>>): void {
  table.begin();
  for (const [name, devices] of Object.entries(answer)) {
    const node = table.node(name);
    for (const [device, rate] of Object.entries(devices)) table.device(node, device).rate = rate;
  }
}

function ratesOf({ nodes }: RateTable): unknown {
  return Object.fromEntries(
    [...nodes].map(([name, { devices }]) => [
      name,
      Object.fromEntries([...devices].map(([device, { rate }]) => [device, rate])),
    ]),
  );
}

const ANSWER = { a: { eth0: 1, eth1: 2 }, b: { eth0: 3 } };
const CLUSTER = {};

describe('RateTable', () => {
  it('reuses the objects of nodes and devices, and clears their rates', () => {
    const table = new RateTable();
    read(table, ANSWER);
    table.end();
    const [node] = [table.nodes.get('a')];
    node!.noteInvalid('eth0', 'wrong');
    node!.noteDuplicate('eth0', ['replica']);
    const device = node!.devices.get('eth0');
    expect(table.next(CLUSTER)).toBe(table);
    table.begin();
    expect(table.node('a')).toBe(node);
    expect(table.device(node!, 'eth0')).toBe(device);
    expect([node!.invalid.size, node!.duplicate, device!.rate]).toEqual([0, undefined, undefined]);
    expect(node!.differing).toEqual([]);
  });

  it('removes nodes and devices that the answer does not contain', () => {
    const table = new RateTable();
    read(table, ANSWER);
    table.end();
    read(table, { a: { eth1: 4 } });
    table.end();
    expect(ratesOf(table)).toEqual({ a: { eth1: 4 } });
  });

  it('is not used again after a truncated answer, which may still be written', () => {
    const table = new RateTable().next(CLUSTER);
    read(table, ANSWER);
    table.end();
    table.begin();
    const place = table.place(table.node('a'), 'eth0');
    const next = table.next(CLUSTER);
    expect(next).not.toBe(table);
    next.begin();
    expect(next.returnTo(place)).toBe(false);
    next.end();
    expect(ratesOf(next)).toEqual({});
  });

  it('has places that stay valid while every answer contains them and the nodes are the same', () => {
    const table = new RateTable().next(CLUSTER);
    table.begin();
    const places = ['eth0', 'eth1'].map((name) => table.place(table.node('a'), name));
    table.end();
    const returned = (cluster: object, ...which: number[]): boolean[] => {
      table.next(cluster).begin();
      const held = which.map((place) => table.returnTo(places[place]!));
      table.end();
      return held;
    };
    expect(returned(CLUSTER, 0, 1)).toEqual([true, true]);
    expect(returned(CLUSTER, 0)).toEqual([true]);
    expect(returned(CLUSTER, 0, 1)).toEqual([true, false]);
    expect(returned({}, 0)).toEqual([false]);
  });
});
