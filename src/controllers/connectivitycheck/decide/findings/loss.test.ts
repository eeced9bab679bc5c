import { expect, it } from 'vitest';
import type { ConnectivityCheckStatus } from '../../../../api/connectivitycheck/connectivityCheck.ts';
import { localise } from '../../../../connectivity/localise/localise.ts';
import { seeded } from '../../../../connectivity/localise/testing/random.ts';
import { clusterOf, type SimFault } from '../../../../connectivity/localise/testing/simCluster.ts';
import { simulate } from '../../../../connectivity/localise/testing/simulate.ts';
import { MOST_FINDINGS } from '../../../../connectivity/protocol/evaluation.ts';
import { sampleSize } from '../../../../runtime/testing/sampleSize.ts';
import { answered, checkWith, evaluation, T0 } from '../../testing/scenes.ts';
import { decide } from '../decide.ts';
import { findingHistoryOf, type FindingHistory } from '../../model/findingHistory.ts';

/** 10 % of the echoes are lost, which is the threshold, both ways together. */
const LOSS = 1 - Math.sqrt(0.9);
const LOSSY: SimFault[] = Array.from({ length: 10 }, (_, n) => ({
  ...{ at: 'node', node: `node${n + 1}` },
  does: { loss: LOSS },
}));
const INTERVAL_MS = 15_000;
/** Most events come in the first minutes: 126 of them in the first quarter of an hour. */
const MINUTES = sampleSize({ quick: 15, full: 60 });
const MOST = { events: sampleSize({ quick: 150, full: 400 }), outages: sampleSize({ quick: 60, full: 150 }) };

it(`${MINUTES} minutes of loss close to the threshold at 10 of 30 nodes are at most ${MOST.events} events and ${MOST.outages} outages`, () => {
  const random = seeded(5);
  let status: ConnectivityCheckStatus | undefined;
  let history: FindingHistory = new Map();
  let writtenAt: number | undefined;
  let count = 0;
  const outages = new Set<string>();
  for (let atMs = 0; atMs < MINUTES * 60_000; atMs += INTERVAL_MS) {
    const view = simulate(clusterOf(30), LOSSY, random);
    const { findings } = localise({ ...view, thresholds: { lossPercent: 10 } });
    history = findingHistoryOf(history, findings, { now: atMs, intervalMs: INTERVAL_MS });
    const omittedFindings = Math.max(0, findings.length - MOST_FINDINGS);
    const server = answered({ ...evaluation(findings.slice(0, MOST_FINDINGS)), omittedFindings });
    const writtenAgoMs = writtenAt === undefined ? undefined : atMs - writtenAt;
    const { write, events } = decide({ check: checkWith(status), server, history, now: T0 + atMs, writtenAgoMs });
    if (write !== status) writtenAt = atMs;
    status = write;
    count += events.length;
    for (const { id = '', start } of write.outages ?? []) outages.add(`${id} ${start}`);
  }
  console.log(`${count} events, ${outages.size} outages`);
  expect(count).toBeLessThanOrEqual(MOST.events);
  expect(outages.size).toBeLessThanOrEqual(MOST.outages);
});
