import { describe, expect, it } from 'vitest';
import { anObservation, pass, usage } from '../../testing/observations.ts';
import { settled, statusOf } from '../../testing/settled.ts';
import { describeFullDevice } from './status.ts';

const FULL = { device: 'eth0', percent: 95 };

describe('describeFullDevice', () => {
  it.each([
    { why: 'the node has no figure', seen: undefined },
    { why: 'there is only one device', seen: { percent: 27.1 } },
    { why: 'the node is above the threshold, too', seen: { percent: 60.1, fullest: FULL } },
    {
      why: 'the device is exactly at the threshold',
      seen: { percent: 27.1, fullest: { device: 'eth0', percent: 60 } },
    },
  ])('says nothing if $why', ({ seen }) => {
    expect(describeFullDevice(seen, 60)).toBeUndefined();
  });

  it('names the device, both figures and the field', () => {
    expect(describeFullDevice({ percent: 27.1428, fullest: FULL }, 60)).toBe(
      'eth0 is at 95.0 %, the node at 27.1 %; set spec.measure to Fullest to decide by the busiest device',
    );
  });
});

describe('the status of a node', () => {
  it('has the message while the device is full, and the verdict does not depend on it', () => {
    const nodes = new Map([
      ['n1', usage('n1', 3, { fullest: FULL })],
      ['n2', usage('n2', 3)],
    ]);
    const status = statusOf(settled(anObservation({ passes: [pass(2, {}, { nodes }), pass(1, {}, { nodes })] })));
    expect(status.nodes?.n1).toMatchObject({ verdict: 'Fit', message: expect.stringContaining('eth0') as string });
    expect(status.nodes?.n2).not.toHaveProperty('message');
  });
});
