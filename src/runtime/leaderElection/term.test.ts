import { beforeEach, expect, it, vi } from 'vitest';
import type { FakeClock } from '../process/clock.ts';
import { Electorate, type FakeLeases } from './testing/electors.ts';

let electorate: Electorate;
let clock: FakeClock;
let server: FakeLeases;
const onVacant = vi.fn<() => void>();

beforeEach(() => {
  electorate = new Electorate();
  ({ clock, server } = electorate);
  onVacant.mockClear();
});

it.each(['terminating', 'gone'] as const)(
  'reports a vacancy once no Lease could be created for 15 s: %s',
  async (state) => {
    server.namespace = state;
    await electorate.start('a', { onVacant });
    await clock.advance(14_999);
    expect(onVacant).not.toHaveBeenCalled();
    await clock.advance(2_500);
    expect(onVacant).toHaveBeenCalled();
  },
);

it('the former leader has stopped by then', async () => {
  const { elector } = await electorate.start('leader');
  server.namespace = 'gone';
  server.lease = undefined;
  const led: boolean[] = [];
  await electorate.start('a', { onVacant: () => led.push(elector.isLeader) });
  await clock.advance(20_000);
  expect(new Set(led)).toEqual(new Set([false]));
});

it('takes an existing Lease in a namespace that is being deleted', async () => {
  server.replace({ holderIdentity: '', leaseDurationSeconds: 1 });
  server.namespace = 'terminating';
  const { elector } = await electorate.start('a', { onVacant });
  await clock.advance(60_000);
  expect(elector.isLeader).toBe(true);
  expect(onVacant).not.toHaveBeenCalled();
});

it.each([
  ['the Lease is held by another', () => server.replace({ holderIdentity: 'other', leaseDurationSeconds: 3_600 })],
  ['there is no response', () => server.network.set('a', 'refused')],
])('restarts the 15 s if in between %s', async (_why, happens) => {
  server.namespace = 'gone';
  await electorate.start('a', { onVacant });
  await clock.advance(10_000);
  happens();
  await clock.advance(3_000);
  server.lease = undefined;
  server.network.delete('a');
  await clock.advance(14_000);
  expect(onVacant).not.toHaveBeenCalled();
  await clock.advance(6_000);
  expect(onVacant).toHaveBeenCalled();
});
