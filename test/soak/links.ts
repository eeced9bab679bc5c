/**
 * Runs the operator over links with half a second of latency, on which one in twenty connections is reset, and prints the
 * results. Exits with status 1 if a promise of docs/reliability.md is broken.
 *
 *   MINUTES=10 node test/soak/links.ts
 */
import { brokenPromises, reportOf, startBadLinks } from '../harness/badLinks.ts';

const INTERVAL_MS = 10_000;
const minutes = Number(process.env.MINUTES ?? '10');
if (!(minutes > 0)) throw new Error(`MINUTES=${process.env.MINUTES}: must be a number above 0`);

const links = await startBadLinks(INTERVAL_MS);
try {
  const seen = await links.watch(minutes * 60_000);
  for (const line of [`${minutes} minutes`, ...reportOf(seen, INTERVAL_MS)]) console.log(line);
  const broken = brokenPromises(seen, INTERVAL_MS);
  console.log(broken.length === 0 ? 'every promise was kept' : `promises that were broken: ${broken.join('; ')}`);
  process.exitCode = broken.length === 0 ? 0 : 1;
} finally {
  await links.stop();
}
