import { describe, expect, it } from 'vitest';
import type { TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError, WaitingError } from '../../../runtime/client/errors.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { FoundExternals } from '../decide/external.ts';
import { createFoundNamer } from './defaultStack.ts';

const EXPORTER = { kind: 'DaemonSet', namespace: 'monitoring', name: 'exporter' } as const;
const FOUND: FoundExternals = new Map([['exporter', EXPORTER]]);
const STACK: TrafficStack = {
  metadata: { name: 'default', generation: 3, resourceVersion: '7' },
  spec: { components: [{ name: 'exporter', type: 'NodeExporter', mode: 'Auto', deadline: '5m' }] },
};

function scene(newest: Partial<TrafficStack['metadata']> = {}, failure?: Error) {
  const patches: unknown[] = [];
  const events: string[] = [];
  const clock = new FakeClock();
  const client = {
    mergePatch(_: unknown, __: unknown, patch: unknown, { fieldManager }: { fieldManager?: string }) {
      if (failure !== undefined) return Promise.reject(failure);
      patches.push([fieldManager, patch]);
      return Promise.resolve(STACK);
    },
  } as unknown as Client;
  const stacks = { get: () => ({ ...STACK, metadata: { ...STACK.metadata, ...newest } }), wrote: () => undefined };
  const name = createFoundNamer({
    ...{ client, clock, stacks },
    events: { event: (_, type, reason, note) => void events.push(`${type} ${reason}: ${note}`) },
  });
  return { name, patches, events, clock };
}

describe('what a search has found', () => {
  it('is named with the mode External, in the version that was read, and an Event says so', async () => {
    const { name, patches, events } = scene({ resourceVersion: '8' });
    await name(STACK, FOUND);
    const components = [
      { name: 'exporter', type: 'NodeExporter', mode: 'External', external: EXPORTER, deadline: '5m' },
    ];
    const patch = { metadata: { resourceVersion: '8' }, spec: { components } };
    expect(patches).toEqual([['traffic-operator-discovery', patch]]);
    expect(events).toEqual([
      'Normal ExternalFound: exporter uses DaemonSet monitoring/exporter, which the spec names from now on; to search again, set its mode Auto and remove external',
    ]);
  });

  it('is not named in another spec than it was found for', async () => {
    const { name, patches } = scene({ generation: 4 });
    await name(STACK, FOUND);
    expect(patches).toEqual([]);
  });

  it('waits if somebody writes the stack meanwhile, without an Event', async () => {
    const { name, events } = scene({}, new ApiError({ status: 409, reason: 'Conflict', method: 'PATCH', path: '' }));
    await expect(name(STACK, FOUND)).rejects.toThrow(WaitingError);
    expect(events).toEqual([]);
  });

  it('is named three times in ten minutes at most, while a tool reverts it', async () => {
    const { name, patches, clock } = scene();
    for (let round = 0; round < 5; round += 1) await name(STACK, FOUND);
    expect(patches).toHaveLength(3);
    await clock.advance(600_000);
    await name(STACK, FOUND);
    expect(patches).toHaveLength(4);
  });
});
