/**
 * Lets the operator work over links with half a second of latency on which one connection of twenty is reset, and prints
 * what was seen. Ends with status 1 when a promise of docs/reliability.md was broken.
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
