import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HttpServer } from '../harness/httpServer.ts';
import { timestamped } from '../harness/syntheticExporter.ts';
import { deviceLines } from '../harness/usageExporters.ts';
import { startVictoriaMetrics } from '../harness/victoriaMetrics.ts';
import { passWhen } from './serversQuestion.ts';
import { SPEED } from './serversWorld.ts';
import { expectPercent } from './usageSnapshot.ts';

/**
 * VictoriaMetrics with its default -search.latencyOffset: it evaluates an expression 30 s before the time in its answer, and reads a bare range up to now.
 */
const OFFSET_SECONDS = 30;
const WINDOW_SECONDS = 60;
const SCRAPE_SECONDS = 5;
const PERCENT = 95;
/** How long ago counters fell: within the offset, in all places of the window and of the time before it, and earlier. */
const AGES = Array.from({ length: 18 }, (_, index) => 10 * (index + 1));

let server: HttpServer;
beforeAll(async () => {
  server = await startVictoriaMetrics({ config: {}, flags: [`-search.latencyOffset=${OFFSET_SECONDS}s`] });
});
afterAll(() => server.stop());

/** The samples of a full node whose counter was set to 0 so many seconds ago, after it had counted for half of the window. */
function samplesOf(node: string, age: number, now: number): string {
  const labels = { node, device: 'eth0', job: 'falling', instance: node };
  const lines: string[] = [];
  for (let ago = age + WINDOW_SECONDS / 2; ago >= 0; ago -= SCRAPE_SECONDS) {
    const counted = ago > age ? age + WINDOW_SECONDS / 2 - ago : age - ago;
    const facts = { total: (counted * SPEED * PERCENT) / 100, speed: SPEED, flags: 4163 };
    lines.push(timestamped(deviceLines(labels, facts), now - 1000 * ago));
  }
  return lines.join('');
}

it('a counter that fell makes no wrong percent, wherever the window has the fall', async () => {
  const nodes = Object.fromEntries(AGES.map((age) => [`fell-${age}`, {}]));
  const now = Date.now();
  const body = AGES.map((age) => samplesOf(`fell-${age}`, age, now)).join('');
  const { status } = await fetch(`${server.url}/api/v1/import/prometheus`, { method: 'POST', body });
  expect(status).toBeLessThan(300);
  const query = { windowSeconds: WINDOW_SECONDS };
  const found = await passWhen({ url: server.url, job: 'falling', nodes, query }, ({ nodes }) => {
    expectPercent(nodes.get(`fell-${AGES.at(-1)}`), PERCENT);
  });
  const percents = [...found.nodes.values()].map(({ node, reason, percent }) => [node, reason, percent]);
  expect(percents.filter(([, reason]) => reason !== 'CounterReset' && reason !== 'Measured')).toEqual([]);
  expect(percents.filter(([, , percent = PERCENT]) => Math.abs(Number(percent) - PERCENT) > 1)).toEqual([]);
});
