import { describe, expect, it, vi } from 'vitest';
import type { Measurement } from '../../src/controllers/measurement/controller.ts';
import { STARTING_MS } from '../../src/controllers/measurement/decide/missingExporters.ts';
import { DAEMONSETS } from '../../src/runtime/client/resources.ts';
import { useBench, WAIT } from './measurementBench.ts';
import { addExporterPod, CRASHING, reportReady } from './measurementPods.ts';

const bench = useBench();
const LONG_AGO = new Date(Date.now() - 2 * STARTING_MS).toISOString();

const exporter = (): { namespace: string; name: string } => ({
  namespace: `${bench().namespace}-node-exporter`,
  name: 'node-exporter',
});

const ready = (is: boolean): object => ({
  conditions: [{ type: 'Ready', status: is ? 'True' : 'False', lastTransitionTime: LONG_AGO }],
});

/** Repeats the check until the report, and the pods that the message names, have reached the controller's caches. */
async function told(measurement: Measurement, reason: string, message: RegExp): Promise<void> {
  await vi.waitFor(async () => {
    await bench().lookAgain();
    expect(measurement.problems()).toMatchObject([{ reason, message: expect.stringMatching(message) as string }]);
  }, WAIT);
}

describe('an exporter that does not start', () => {
  it('is reported with its node, the reason and how to choose another port, until it starts', async () => {
    const measurement = bench().start();
    await bench().deployed();
    const daemonSet = await bench().client.get(DAEMONSETS, exporter());
    const report = (count: number): Promise<void> => reportReady(bench().client, exporter(), count, 2);
    await addExporterPod(bench().client, daemonSet, 'good', ready(true));
    await addExporterPod(bench().client, daemonSet, 'taken', { ...ready(false), ...CRASHING });
    // The age of the pod counts: it is new, so nothing is reported yet.
    await report(1);
    await bench().lookAgain();
    expect(measurement.problems()).toEqual([]);

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * STARTING_MS });
    try {
      await told(
        measurement,
        'ExporterNotReady',
        /ready on taken \(its container ends with code 1\): .* TCP port 9100, .*--node-exporter-port, nodeExporter.port/,
      );
      const [problem, ...others] = measurement.problems();
      expect(others).toEqual([]);
      expect(problem).toMatchObject({ object: `DaemonSet ${exporter().namespace}/node-exporter` });
      await report(2);
      await vi.waitFor(() => expect(measurement.problems()).toEqual([]), WAIT);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('an exporter without pods', () => {
  it('is reported with the number of nodes, until there are pods', async () => {
    const measurement = bench().start();
    await bench().deployed();
    const report = (made: number): Promise<void> => reportReady(bench().client, exporter(), made, 3, made);
    await report(0);
    await bench().lookAgain();
    expect(measurement.problems()).toEqual([]);

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * STARTING_MS });
    try {
      await told(measurement, 'ExporterNotCreated', /for 3 nodes/);
      await report(3);
      await vi.waitFor(() => expect(measurement.problems()).toEqual([]), WAIT);
    } finally {
      vi.useRealTimers();
    }
  });
});
