import type { V1DaemonSet, V1Pod } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { STARTING_MS } from '../../src/controllers/measurement/decide/missingExporters.ts';
import { DAEMONSETS, PODS } from '../../src/runtime/resources.ts';
import { HEALED, useBench } from './measurementBench.ts';

const bench = useBench();
const PERSON = { fieldManager: 'kubelet', subresource: 'status' };
const LONG_AGO = new Date(Date.now() - 2 * STARTING_MS).toISOString();

const exporter = (): { namespace: string; name: string } => ({
  namespace: `${bench().namespace}-node-exporter`,
  name: 'node-exporter',
});

/** What the DaemonSet controller and a kubelet would do for one node. */
async function addExporterPod(daemonSet: V1DaemonSet, node: string, status: object): Promise<void> {
  const { namespace } = exporter();
  const { metadata, spec } = daemonSet.spec!.template;
  const pod: V1Pod = {
    metadata: { namespace, name: `exporter-${node}`, labels: metadata!.labels },
    spec: { ...spec!, nodeName: node },
  };
  await bench().client.create(PODS, pod);
  await bench().client.mergePatch(PODS, { namespace, name: `exporter-${node}` }, { status }, PERSON);
}

const ready = (is: boolean): object => ({
  conditions: [{ type: 'Ready', status: is ? 'True' : 'False', lastTransitionTime: LONG_AGO }],
});
const crashing = {
  containerStatuses: [
    {
      name: 'node-exporter',
      image: 'i',
      imageID: '',
      ready: false,
      restartCount: 5,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1 } },
    },
  ],
};

describe('an exporter that does not start', () => {
  it('is named with its node, why, and how to choose another port, until it starts', async () => {
    const measurement = bench().start();
    await bench().deployed();
    const daemonSet = await bench().client.get(DAEMONSETS, exporter());
    const report = async (numberReady: number): Promise<void> => {
      const status = { desiredNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 0, numberReady };
      await bench().client.mergePatch(DAEMONSETS, exporter(), { status }, PERSON);
    };
    await addExporterPod(daemonSet, 'good', ready(true));
    await addExporterPod(daemonSet, 'taken', { ...ready(false), ...crashing });
    // A pod counts from its own age on: it has just been made, so nothing is said yet.
    await report(1);
    await bench().lookAgain();
    expect(measurement.problems()).toEqual([]);

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * STARTING_MS });
    try {
      await bench().lookAgain();
      const [problem, ...others] = measurement.problems();
      expect(others).toEqual([]);
      expect(problem).toMatchObject({
        reason: 'ExporterNotReady',
        object: `DaemonSet ${exporter().namespace}/node-exporter`,
      });
      expect(problem!.message).toMatch(
        /ready on taken \(its container ends with code 1\): .* TCP port 9100, .*--node-exporter-port, nodeExporter.port/,
      );
      await report(2);
      await vi.waitFor(() => expect(measurement.problems()).toEqual([]), HEALED);
    } finally {
      vi.useRealTimers();
    }
  });
});
