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
/** A claim in use stays Terminating until its controller removes the finalizer; no such controller runs here. */
const hasClaim = async (): Promise<boolean> => {
  const claim = await bench().find(PERSISTENT_VOLUME_CLAIMS, ref());
  return claim !== undefined && claim.metadata?.deletionTimestamp === undefined;
};
const letGo = () =>
  bench().client.mergePatch(PERSISTENT_VOLUME_CLAIMS, ref(), { metadata: { finalizers: null } }, { fieldManager: 'p' });

describe('the claim of Prometheus', () => {
  it('is created if requested, with only the right to it by name, and fields that the API server sets stay', async () => {
    bench().start(withVolume({ kind: 'claim', size: '2Gi', storageClassName: 'fast' }));
    await bench().deployed();
    await vi.waitFor(async () => expect(await hasClaim()).toBe(true), WAIT);
    const claim = await bench().find(PERSISTENT_VOLUME_CLAIMS, ref());
    expect(claim?.spec).toMatchObject({
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '2Gi' } },
      storageClassName: 'fast',
    });
    await bench().settled();
    const before = bench().writes.length;
    await bench().lookAgain();
    expect(bench().writes.slice(before)).toEqual([]);
  });

  it('that cannot be changed is a problem with advice, until it is deleted', async () => {
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

  it('stays if it is no longer requested, and is deleted with everything else by the clean-up', async () => {
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
