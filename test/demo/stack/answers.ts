import { say, watchUntil } from '../steps.ts';
import { servedSince, type Place, type Question, type Served } from './client.ts';

/** As long as DNS keeps the old address of a pod: 5 s in CoreDNS' cache, and as many in the record. */
export const SETTLED_MS = 10_000;
const SETTLES_WITHIN_MS = 60_000;
/**
 * The most requests to Services, of all, that may fail while the pods of one node are off and Kubernetes does not know it. Each third
 * connection goes to such a pod, so one request in nine fails twice. The rest is for chance: of 100 requests, more than 25 fail in fewer than
 * one of 10,000 runs.
 */
const MOST_FAILED = 0.25;

/** Names for output of the places that the client asks, such as `the Services`. */
export const PLACE_NAMES: Readonly<Record<Place, string>> = {
  ...{ service: 'the Services', pods: 'the pods', vrouter: 'the vrouters' },
  single: 'the Service with one pod',
};

/** Prints what a client has seen. @throws Error if a request failed twice, or something has not answered */
export function tellServed(at: Place, served: Served, questions: readonly Question[]): void {
  const { requests, retried, failures } = served;
  if (failures.length > 0) {
    throw new Error(`${PLACE_NAMES[at]} did not answer, nor after a retry: ${failures.join(', ')}`);
  }
  mustAnswer(at, served, questions);
  say(`the client asked ${PLACE_NAMES[at]} ${requests} times: ${retried} retries, no failure`);
}

/** The same, of Services some of whose pods are off. @throws Error if too many requests failed twice, or a Service has not answered */
export function tellOutage(served: Served, questions: readonly Question[]): void {
  const { requests, retried, failures } = served;
  mustAnswer('service', served, questions);
  const most = Math.floor(requests * MOST_FAILED);
  const what = `${failures.length} of ${requests} requests to the Services failed twice`;
  if (failures.length > most) throw new Error(`${what}, more than ${most}: ${failures.join(', ')}`);
  say(
    `the client asked the Services ${requests} times: ${retried} retries, ${failures.length} failures (at most ${most})`,
  );
}

/** @throws Error if something that is asked at a place has not answered at all */
function mustAnswer(at: Place, { answered, requests, failures }: Served, questions: readonly Question[]): void {
  const silent = namesAt(at, questions).filter((name) => !answered.has(name));
  if (silent.length === 0) return;
  const failed = failures.length === 0 ? 'none failed' : `these failed: ${failures.join(', ')}`;
  throw new Error(`${PLACE_NAMES[at]} of ${silent.join(', ')} did not answer; of all ${requests} requests ${failed}`);
}

/** Until all that is asked at a place has answered for 10 s without any retry. */
export function settled(client: string, at: Place, questions: readonly Question[]): Promise<Served> {
  const names = namesAt(at, questions);
  return watchUntil(
    'no request was retried for 10 s',
    async () => (await servedSince(client, new Date(Date.now() - SETTLED_MS)))[at],
    () => undefined,
    ({ answered, retried, failures }) =>
      names.every((name) => answered.has(name)) && retried === 0 && failures.length === 0,
    SETTLES_WITHIN_MS,
  );
}

function namesAt(place: Place, questions: readonly Question[]): string[] {
  return questions.filter(({ at }) => at === place).map(({ name }) => name);
}
