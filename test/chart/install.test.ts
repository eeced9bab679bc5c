import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHART, type Cluster, DEPLOY, startCluster } from './cluster.ts';

const NAMESPACE = 'network';
const CRD = 'crd/trafficwatches.traffic.example.com';

const DONE = { ok: true, text: expect.any(String) as string };

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

describe('a release', () => {
  const install = (...args: string[]) =>
    cluster.helm(
      'helm',
      'upgrade',
      '--install',
      'traffic-operator',
      CHART,
      '-n',
      NAMESPACE,
      '--create-namespace',
      ...args,
    );
  const exists = async (object: string): Promise<boolean> =>
    (await cluster.kubectl(['-n', NAMESPACE, 'get', object, '-oname'])).ok;

  it('is installed, upgraded, and leaves the CRD and the TrafficWatches behind', async () => {
    const first = await install();
    expect(first.text).toContain('See it work:');
    expect(first.ok).toBe(true);
    await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=30s', CRD]);
    const sample = await cluster.kubectl(['apply', '--validate=strict', '-f', join(DEPLOY, 'samples')]);
    expect(sample).toEqual(DONE);

    expect(await install('--set', 'replicas=3')).toEqual(DONE);
    const replicas = await cluster.kubectl([
      '-n',
      NAMESPACE,
      'get',
      'deploy/traffic-operator',
      '-ojsonpath={.spec.replicas}',
    ]);
    expect(replicas.text).toBe('3');

    // Nothing runs here that could carry out the hook.
    const gone = await cluster.helm('helm', 'uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
    expect(gone).toEqual(DONE);
    expect([await exists('deploy/traffic-operator'), await exists(CRD)]).toEqual([false, true]);
    expect((await cluster.kubectl(['get', 'tw', '-oname'])).text).toContain('trafficwatch');

    expect(await install()).toEqual(DONE);
    await cluster.helm('helm', 'uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
    await cluster.kubectl(['delete', CRD]);
  });

  it('takes over a CRD that is there already when it is told to, and else says why it does not', async () => {
    await cluster.kubectl(['apply', '-f', join(DEPLOY, 'crds')]);
    expect(await install()).toEqual({ ok: false, text: expect.stringContaining('ownership') as string });
    expect(await install('--take-ownership')).toEqual(DONE);
    await cluster.helm('helm', 'uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
    await cluster.kubectl(['delete', CRD]);
  });

  it('takes the CRD along where it is not to be kept', async () => {
    expect(await install('--set', 'crds.keep=false')).toEqual(DONE);
    expect(await exists(CRD)).toBe(true);
    await cluster.helm('helm', 'uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
    await cluster.kubectl(['wait', '--for=delete', CRD, '--timeout=30s']);
    expect(await exists(CRD)).toBe(false);
  });
});

describe('deploy/', () => {
  it('is applied as it is, and the clean-up beside it', async () => {
    for (const directory of [DEPLOY, join(DEPLOY, 'cleanup')]) {
      expect(await cluster.kubectl(['apply', '--validate=strict', '-k', directory])).toEqual(DONE);
      // Once more: nothing is left to change. kubectl sends a PodDisruptionBudget's selector each time.
      const again = await cluster.kubectl(['apply', '-k', directory]);
      expect(again.text).not.toMatch(/^(?!poddisruptionbudget).* (created|configured)$/m);
    }
    expect(await cluster.kubectl(['delete', '--wait=false', '-k', join(DEPLOY, 'cleanup')])).toMatchObject({
      ok: true,
    });
    expect(await cluster.kubectl(['delete', '--wait=false', '-k', DEPLOY])).toEqual(DONE);
  });
});
