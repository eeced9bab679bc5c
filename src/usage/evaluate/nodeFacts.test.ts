import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_EXCLUDED_DEVICES, wholeName } from './devices/devices.ts';
import { FactsCondenser } from './nodeFacts.ts';
import { FactSamples, NodeSamples, type DeviceSamples } from '../series/nodeSamples.ts';

const EXCLUDE = wholeName(DEFAULT_EXCLUDED_DEVICES);

function samples(devices: Record<string, Partial<DeviceSamples>>, instances = ['a:9100']): NodeSamples {
  const node = new NodeSamples();
  for (const [name, fields] of Object.entries(devices)) {
    node.devices.set(name, Object.assign(new FactSamples(), fields));
    if (Number.isNaN(fields.total)) node.noteInvalid(name, `total of ${name} is "x"`);
  }
  for (const instance of instances) node.noteInstance(instance);
  return node;
}

describe('FactsCondenser', () => {
  const device = fc.record({
    total: fc.constantFrom(undefined, 7, -1, NaN),
    speed: fc.constantFrom(undefined, 125, NaN),
    flags: fc.constantFrom(undefined, 0x800),
  });
  const devices = fc.dictionary(fc.constantFrom('eth0', 'eth1', 'veth1', 'veth2', 'lo'), device);

  it('gives the same facts regardless of earlier nodes', () => {
    fc.assert(
      fc.property(fc.array(devices, { maxLength: 8 }), (nodes) => {
        const condenser = new FactsCondenser(EXCLUDE);
        for (const node of nodes) {
          const alone = new FactsCondenser(EXCLUDE).condense(samples(node));
          expect(condenser.condense(samples(node))).toEqual(alone);
        }
      }),
    );
  });

  it('shares one object between nodes with equal devices', () => {
    const condenser = new FactsCondenser(EXCLUDE);
    const [one, other, slower] = [125, 125, 12.5].map((speed, n) =>
      condenser.condense(samples({ eth0: { total: n, speed } }, [`${n}:9100`])),
    );
    expect(one?.devices).toBe(other?.devices);
    expect(slower?.devices).not.toBe(one?.devices);
    expect([one, other].map((each) => [each?.transmitBytesTotal, each?.soleInstance])).toEqual([
      [0, '0:9100'],
      [1, '1:9100'],
    ]);
  });

  it('keeps all instances if there is more than one', () => {
    const { soleInstance, instances } = new FactsCondenser(EXCLUDE).condense(samples({}, ['a:9100', 'a:9200']));
    expect([soleInstance, instances]).toEqual([undefined, new Set(['a:9100', 'a:9200'])]);
  });
});
