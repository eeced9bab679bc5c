import type { V1ConfigMap } from '@kubernetes/client-node';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { removeMeasurement } from '../../src/controllers/measurement/module.ts';
import { CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, SERVICES } from '../../src/runtime/client/resources.ts';
import { type Bench, WAIT, useBench } from './measurementBench.ts';
import type { PrometheusVolume } from '../../src/controllers/measurement/options.ts';

const bench = useBench();

describe("another owner's objects", () => {
  it('are not changed, are reported, and are replaced by ours once they are gone', async () => {
    const { client, namespace } = bench();
    const map: V1ConfigMap = { metadata: { namespace, name: 'prometheus-targets' }, data: { theirs: 'x' } };
    await client.create(CONFIG_MAPS, map);
    const measurement = bench().start();
    const problems = (): string[] =>
      measurement
        .problems()
        .map(({ reason, object }) => `${reason} ${object}`)
        .sort();
    await vi.waitFor(
      () => expect(problems()).toEqual([`ForeignObject ConfigMap ${namespace}/prometheus-targets`]),
      WAIT,
    );
    await bench().deployed();
    await bench().lookAgain();
    expect((await client.get(CONFIG_MAPS, { namespace, name: 'prometheus-targets' })).data).toEqual({ theirs: 'x' });

    await client.delete(CONFIG_MAPS, { namespace, name: 'prometheus-targets' });
    await vi.waitFor(() => expect(problems()).toEqual([]), WAIT);
    await bench().deployed();
  });
});

describe('switched off', () => {
  const off = (): Bench['options'] => ({
    ...bench().options,
    exporter: { ...bench().options.exporter, enabled: false },
    prometheus: { ...bench().options.prometheus, enabled: false },
  });
  const goneOrLeaving = async (): Promise<string[]> =>
    Object.entries(await bench().all()).flatMap(([id, object]) =>
      object === undefined || object.metadata?.deletionTimestamp !== undefined ? [] : [id],
    );

  it('it deletes its own objects and objects of an older version, and nothing else', async () => {
    const { client, namespace } = bench();
    const other = {
      metadata: { namespace, name: 'other', labels: { 'app.kubernetes.io/part-of': 'traffic-operator' } },
    };
    await client.create(CONFIG_MAPS, other);
    bench().start();
    await bench().deployed();
    await bench().stop();
    bench().start(off());
    await vi.waitFor(async () => expect(await goneOrLeaving()).toEqual([]), WAIT);
    expect(await bench().find(CONFIG_MAPS, { namespace, name: 'other' })).toBeDefined();
  });

  it('it leaves objects of others with the same names', async () => {
    const { client, namespace } = bench();
    await client.create(SERVICES, { metadata: { namespace, name: 'prometheus' }, spec: { ports: [{ port: 80 }] } });
    bench().start(off());
    await bench().lookAgain();
    expect(bench().writes).toEqual([]);
    expect(await bench().find(SERVICES, { namespace, name: 'prometheus' })).toBeDefined();
  });

  it('by the clean-up, it leaves nothing behind', async () => {
    bench().start();
    await bench().deployed();
    await bench().stop();
    const logger = pino({ level: 'silent' });
    expect(await removeMeasurement(bench().remover, { namespace: bench().namespace, logger })).toEqual([]);
    expect(await goneOrLeaving()).toEqual([]);
  });
});

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
