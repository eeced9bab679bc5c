import { describe, expect, it } from 'vitest';
import type { KnownNode } from '../../nodes/nodeNames.ts';
import type { FakeDevice } from '../../prometheus/testing/fakePrometheus.ts';
import { readingKey, type Reading } from '../evaluate/reading.ts';
import type { UsageQuery } from './queries.ts';
import { device, PassScene, QUERY } from './testing/passScene.ts';

const SILENT = { rate: '0', received: '0' };
const ONLY_ETH1 = { direction: 'Transmit', include: 'eth1' } as const;
const RECEIVED = { direction: 'Receive' } as const;

interface Options {
  query?: UsageQuery;
  nodes?: Record<string, KnownNode>;
  reading?: Reading;
}

async function usageOf(
  devices: readonly (readonly [name: string, more: Partial<FakeDevice>])[],
  { query = QUERY, nodes = { a: {}, b: {} }, reading }: Options = {},
) {
  const scene = new PassScene(query);
  if (reading) scene.readings = new Map([[readingKey(reading), reading]]);
  scene.prometheus.devices = [...devices.map(([name, more]) => device('a', name, more)), device('b', 'eth0')];
  const pass = await scene.next(nodes);
  return (reading ? pass.readings?.get(readingKey(reading))?.nodes : pass.nodes)?.get('a');
}

describe('a node none of whose counters has moved within the window', () => {
  it('has no figure: old values are repeated, and the node may be full', async () => {
    const usage = await usageOf([
      ['eth0', SILENT],
      ['eth1', SILENT],
    ]);
    expect(usage).toMatchObject({ reason: 'StaleSamples' });
    expect(usage?.message).toContain('its counters stand still');
    expect(usage).not.toHaveProperty('percent');
  });

  it('has none either by what it receives', async () => {
    expect(await usageOf([['eth0', SILENT]], { reading: RECEIVED })).toMatchObject({ reason: 'StaleSamples' });
  });

  it.each([
    [
      'another NIC sends',
      [
        ['eth0', {}],
        ['eth1', SILENT],
      ] as const,
      {},
      2.5,
    ],
    [
      'a NIC sends that the reading leaves out',
      [
        ['eth0', {}],
        ['eth1', SILENT],
      ] as const,
      { reading: ONLY_ETH1 },
      0,
    ],
    [
      'a device sends that does not count',
      [
        ['eth0', SILENT],
        ['ib0', {}],
      ],
      {},
      0,
    ],
    ['the user excludes devices by name', [['eth0', SILENT]], { query: { ...QUERY, excludedDevices: 'mgmt.*' } }, 0],
    [
      'it receives, and its driver does not count what it sends',
      [['eth0', { rate: '0', received: '5' }]] as const,
      { reading: RECEIVED },
      5,
    ],
    ['it only receives nothing', [['eth0', { received: '0' }]] as const, { reading: RECEIVED }, 0],
    [
      'the window is shorter than two heartbeats',
      [['eth0', SILENT]] as const,
      { query: { ...QUERY, windowSeconds: 19 } },
      0,
    ],
    ['it is alone, and its kubelet sends to itself', [['eth0', SILENT]] as const, { nodes: { a: {} } }, 0],
  ] as readonly (readonly [string, Parameters<typeof usageOf>[0], Options, number])[])(
    'is measured if %s',
    async (_why, devices, options, percent) => {
      expect(await usageOf(devices, options)).toMatchObject({ reason: 'Measured', percent });
    },
  );
});
