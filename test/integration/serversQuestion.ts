import type { Snapshot } from '../../src/usage/evaluate/snapshot.ts';
import type { UsageQuery } from '../../src/usage/pass/queries.ts';
import { NODES, PERCENTS, WINDOW_SECONDS } from './serversWorld.ts';
import { expectPercent, snapshotWhen } from './usageSnapshot.ts';

/** The question of a pass to a server of serversWorld.ts; the nodes of job `nodes` unless it says otherwise. */
export interface Question {
  url: string;
  job?: string;
  nodes?: Record<string, object>;
  query?: Partial<UsageQuery>;
  headers?: Record<string, string>;
}

/** Passes until one is as it is wanted. */
export function passWhen(question: Question, satisfied: (snapshot: Snapshot) => void): Promise<Snapshot> {
  const { url, job = 'nodes', nodes = NODES, query, headers } = question;
  const options = { ...(headers && { endpoint: { url, headers } }) };
  return snapshotWhen({ url, job, nodes, query: { windowSeconds: WINDOW_SECONDS, ...query }, options }, satisfied);
}

/** Each node of the job `nodes` has its percent. */
export function expectAllMeasured({ nodes }: Pick<Snapshot, 'nodes'>): void {
  for (const [name, percent] of Object.entries(PERCENTS)) expectPercent(nodes.get(name), percent);
}

/** The value of the first series in the answer to a query; 0 if there is none. */
export async function numberOf(url: string, query: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? 0);
}
