import { describe, expect, it } from 'vitest';
import { readStatus } from './status.ts';

const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Decided',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2025-01-01T00:00:00Z',
};
const node = { currentBandwidthPercent: '1e+00', time: 1, unfit: false };
const sound = {
  ready: true,
  observedGeneration: 1,
  labelKey: 'web.traffic.example.com/unfit',
  avoidedNodes: ['n1'],
  blockedPods: { count: 1, names: ['web-1'] },
  fitNodes: 1,
  nodes: { n1: node },
  conditions: [condition],
};

describe('readStatus', () => {
  it('keeps a status that the operator wrote', () => {
    expect(readStatus(sound)).toEqual(sound);
    expect(readStatus({})).toEqual({});
  });

  it.each([undefined, null, 'x', [], 1])('treats %j as no status', (status) => {
    expect(readStatus(status)).toBeUndefined();
  });

  it.each<[string, object]>([
    ['ready', { ready: 'yes' }],
    ['labelKey', { labelKey: 5 }],
    // Another key would be written to every node during a rename.
    ['labelKey', { labelKey: 'kubernetes.io/hostname' }],
    ['labelKey', { labelKey: 'A b.traffic.example.com/unfit' }],
    ['fitNodes', { fitNodes: '1' }],
    ['avoidedNodes', { avoidedNodes: 'n1' }],
    ['avoidedNodes', { avoidedNodes: [1] }],
    ['blockedPods', { blockedPods: { count: '1', names: [] } }],
    ['blockedPods', { blockedPods: { count: 1, names: [1] } }],
    ['blockedPods', { blockedPods: { count: 1 } }],
    ['nodes', { nodes: [] }],
    ['nodes', { nodes: { n1: null } }],
    ['nodes', { nodes: { n1: { ...node, since: 'yesterday' } } }],
    ['conditions', { conditions: {} }],
    ['conditions', { conditions: [null] }],
    ['conditions', { conditions: [condition, condition] }],
    ['conditions', { conditions: [{ type: 'Ready' }] }],
    ['conditions', { conditions: [{ ...condition, lastTransitionTime: 'x' }] }],
    ['conditions', { conditions: [{ ...condition, message: { a: 1 } }] }],
  ])('drops an invalid %s: %j', (field, odd) => {
    const status = { ...sound, ...odd };
    const read = readStatus(status);
    expect(read).toEqual(Object.fromEntries(Object.entries(sound).filter(([key]) => key !== field)));
  });

  it('drops unknown fields', () => {
    expect(readStatus(JSON.parse('{"ready":true,"__proto__":{"labelKey":"x"},"extra":1}'))).toEqual({ ready: true });
  });
});
