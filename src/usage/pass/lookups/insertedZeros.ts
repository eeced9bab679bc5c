import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { add, LARGE, NEGLIGIBLE_BYTES, type LateSamples } from '../../series/lateSamples.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import type { QueryRunner } from '../queryRunner.ts';
import { fallenOf, withFallen, type LateOptions } from './fallenCounters.ts';

/** The transmit counters that a pass has read. */
interface Read {
  /** Facts by node; undefined if the pass did not read them. */
  readonly samples: ReadonlyMap<string, NodeSamples> | undefined;
  readonly rates: ReadonlyMap<string, NodeSamples>;
}

/**
 * Adds devices whose first sample in the window is an inserted 0: the slope through it is as if all that the device has ever sent were sent in the window
 * (https://github.com/grafana/alloy/issues/6610). The slope makes such a counter look young, and no query is sent while none does. If Prometheus does not
 * answer within a quarter of the time of the pass, nothing is added. Rejects with the abort reason of the deadline.
 */
export async function withInsertedZeros(
  queries: QueryRunner,
  late: LateSamples,
  read: Read,
  { resolver, deadline }: { readonly resolver: NodeResolver; readonly deadline: Deadline },
  { counters = ['transmit'] }: LateOptions,
): Promise<LateSamples> {
  if (!hasYoung(read, queries.query)) return late;
  const fell = new Map<string, Set<string>>();
  const found: ReadonlyMap<string, NodeSamples>[] = [];
  let windowStart = Infinity;
  await queries.lookUp(deadline, async (soon) => {
    const ask = counters.map((counted) => queries.zeros(resolver, soon, { counted, leastBytes: NEGLIGIBLE_BYTES }));
    for (const answer of await Promise.all(ask)) {
      soon.signal.throwIfAborted();
      found.push(answer.found);
      windowStart = Math.min(windowStart, answer.windowStart);
      for (const [node, { devices }] of answer.found) for (const name of devices.keys()) add(fell, node, name);
    }
  });
  if (fell.size === 0) return late;
  return withFallen(late, await fallenOf(queries, { fell, found, windowStart }, resolver, deadline, { counters }));
}

/** True if a device counted all its bytes in a few windows, at its rate. */
function hasYoung({ samples, rates }: Read, { windowSeconds }: { readonly windowSeconds: number }): boolean {
  if (samples === undefined) return false;
  for (const [node, { devices }] of rates) {
    const totals = samples.get(node)?.devices;
    for (const [name, { rate = 0 }] of devices) {
      const total = totals?.get(name)?.total ?? 0;
      if (total > NEGLIGIBLE_BYTES && total < LARGE * rate * windowSeconds) return true;
    }
  }
  return false;
}
