import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import type { PrometheusVolume } from '../../src/controllers/measurement/options.ts';
import { removeMeasurement } from '../../src/controllers/measurement/removeMeasurement.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../src/runtime/client/resources.ts';
import { useBench, WAIT, type Bench } from './measurementBench.ts';

const bench = useBench();
const ref = () => ({ namespace: bench().namespace, name: 'prometheus' });
const withVolume = (volume?: PrometheusVolume): Bench['options'] => ({
  ...bench().options,
  prometheus: { ...bench().options.prometheus, ...(volume && { volume }) },
});
/** A claim that a pod may use stays in Terminating until the controller of such claims lets it go; none runs here. */
const hasClaim = async (): Promise<boolean> => {
  const claim = await bench().find(PERSISTENT_VOLUME_CLAIMS, ref());
  return claim !== undefined && claim.metadata?.deletionTimestamp === undefined;
};
const letGo = () =>
  bench().client.mergePatch(PERSISTENT_VOLUME_CLAIMS, ref(), { metadata: { finalizers: null } }, { fieldManager: 'p' });

describe('the claim of Prometheus', () => {
  it('is made where it is asked for, with no right but to it by its name, and stays as the API server completes it', async () => {
    bench().start(withVolume({ kind: 'claim', size: '2Gi', storageClassName: 'fast' }));
    await bench().deployed();
    await vi.waitFor(async () => expect(await hasClaim()).toBe(true), WAIT);
    const claim = await bench().find(PERSISTENT_VOLUME_CLAIMS, ref());
    expect(claim?.spec).toMatchObject({
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '2Gi' } },
      storageClassName: 'fast',
    });
    const before = bench().writes.length;
    await bench().lookAgain();
    expect(bench().writes.slice(before)).toEqual([]);
  });

  it('that cannot be changed is a problem that says what to do, and is over once it is deleted', async () => {
    bench().start(withVolume({ kind: 'claim', size: '2Gi', storageClassName: 'fast' }));
    await vi.waitFor(async () => expect(await hasClaim()).toBe(true), WAIT);
    await bench().stop();
    const measurement = bench().start(withVolume({ kind: 'claim', size: '2Gi', storageClassName: 'slow' }));
    await vi.waitFor(
      () => expect(measurement.problems().map(({ reason }) => reason)).toEqual(['VolumeNotChanged']),
      WAIT,
    );
    const [problem] = measurement.problems();
    expect(problem?.object).toBe(`PersistentVolumeClaim ${bench().namespace}/prometheus`);
    expect(problem?.message).toMatch(/immutable.*; a claim can only grow.* or delete the claim/s);
    await bench().deployed();
    await bench().client.delete(PERSISTENT_VOLUME_CLAIMS, ref());
    await letGo();
    await vi.waitFor(async () => {
      const claim = await bench().find(PERSISTENT_VOLUME_CLAIMS, ref());
      expect([claim?.spec?.storageClassName, measurement.problems()]).toEqual(['slow', []]);
    }, WAIT);
  });

  it('stays when it is only no longer asked for, and goes with all else at the clean-up', async () => {
    bench().start(withVolume({ kind: 'claim', size: '2Gi' }));
    await vi.waitFor(async () => expect(await hasClaim()).toBe(true), WAIT);
    await bench().stop();
    bench().start(withVolume());
    await bench().deployed();
    await bench().lookAgain();
    expect(await hasClaim()).toBe(true);
    await bench().stop();
    const { namespace, remover } = bench();
    expect(await removeMeasurement(remover, { namespace, logger: pino({ level: 'silent' }) })).toEqual([]);
    expect(await hasClaim()).toBe(false);
  });
});
