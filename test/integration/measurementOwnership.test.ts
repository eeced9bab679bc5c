import type { V1ConfigMap } from '@kubernetes/client-node';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { removeMeasurement } from '../../src/controllers/measurement/removeMeasurement.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../src/runtime/client/resources.ts';
import { useBench, WAIT } from './measurementBench.ts';
import type { Bench } from './measurementBench.ts';

const bench = useBench();

describe("somebody else's objects", () => {
  it('are not changed, are reported, and are replaced by ours once they are gone', async () => {
    const { client, namespace } = bench();
    const ref = { namespace, name: 'prometheus' };
    const theirs = await client.create(SERVICES, { metadata: ref, spec: { ports: [{ port: 80 }] } });
    const map: V1ConfigMap = { metadata: { namespace, name: 'prometheus-targets' }, data: { theirs: 'x' } };
    await client.create(CONFIG_MAPS, map);
    const measurement = bench().start();
    const problems = (): string[] =>
      measurement
        .problems()
        .map(({ reason, object }) => `${reason} ${object}`)
        .sort();
    await vi.waitFor(
      () =>
        expect(problems()).toEqual([
          `ForeignObject ConfigMap ${namespace}/prometheus-targets`,
          `ForeignObject Service ${namespace}/prometheus`,
        ]),
      WAIT,
    );
    await bench().deployed();
    await bench().lookAgain();
    expect((await client.get(SERVICES, ref)).metadata?.resourceVersion).toBe(theirs.metadata?.resourceVersion);
    expect((await client.get(CONFIG_MAPS, { namespace, name: 'prometheus-targets' })).data).toEqual({ theirs: 'x' });

    await client.delete(SERVICES, ref);
    await client.delete(CONFIG_MAPS, { namespace, name: 'prometheus-targets' });
    await vi.waitFor(() => expect(problems()).toEqual([]), WAIT);
    await bench().deployed();
  });
});

describe("somebody else's fields", () => {
  it('stay: pull Secrets that a person added to the ServiceAccounts, when drift of these is corrected', async () => {
    const { client, namespace } = bench();
    bench().start();
    await bench().deployed();
    const imagePullSecrets = [{ name: 'pull' }];
    for (const ref of [
      { namespace, name: 'prometheus' },
      { namespace: `${namespace}-node-exporter`, name: 'node-exporter' },
    ]) {
      const theirs = { imagePullSecrets, automountServiceAccountToken: true };
      await client.mergePatch(SERVICE_ACCOUNTS, ref, theirs, { fieldManager: 'person' });
      await vi.waitFor(
        async () =>
          expect(await client.get(SERVICE_ACCOUNTS, ref)).toMatchObject({
            imagePullSecrets,
            automountServiceAccountToken: false,
          }),
        WAIT,
      );
    }
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

  it('it deletes its own objects, and nothing else', async () => {
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

  it('an exporter may stay without a Prometheus', async () => {
    bench().start({ ...off(), exporter: bench().options.exporter });
    const exporter = { namespace: `${bench().namespace}-node-exporter`, name: 'node-exporter' };
    await vi.waitFor(async () => expect(await bench().find(DAEMONSETS, exporter)).toBeDefined(), WAIT);
    await bench().lookAgain();
    expect(await bench().find(DEPLOYMENTS, { namespace: bench().namespace, name: 'prometheus' })).toBeUndefined();
    expect(
      await bench().find(CONFIG_MAPS, { namespace: bench().namespace, name: 'prometheus-targets' }),
    ).toBeUndefined();
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
