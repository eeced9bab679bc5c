import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { Client } from '../../src/runtime/client/client.ts';
import type { ControlPlane } from '../harness/controlPlane.ts';
import { createUser } from '../harness/pki.ts';
import { sleep } from '../harness/measured.ts';
import { grantOperator } from './rbac.ts';

/** Group of the users that hold seats. */
export const SEAT_HOLDERS = 'seat-holders';

/** Soon enough that nobody else has a seat for long. */
const REFUSED_PAUSE_MS = 200;

/** Other clients of an API server, each of whose requests holds a seat of its priority level for a while. */
export interface SeatHolders {
  /** Answers so far, by HTTP status. */
  readonly answers: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/**
 * Keeps `atOnce` requests of each of so many users under way. A seat is taken when the headers are there and given back
 * with the answer, so a body that comes late holds it, at no cost to the machine.
 *
 * @param options.holdMs how long each holds its seat
 */
export async function startSeatHolders(
  plane: ControlPlane,
  client: Client,
  options: { users: number; atOnce: number; holdMs: number },
): Promise<SeatHolders> {
  const answers: Record<string, number> = {};
  const end = new AbortController();
  const agents: Agent[] = [];
  const loops: Promise<void>[] = [];
  for (let n = 0; n < options.users; n += 1) {
    const name = `seat-holder-${options.holdMs}-${n}`;
    await createUser(plane.directory, plane.url, name, [SEAT_HOLDERS]);
    await grantOperator(client, { kind: 'User', name });
    const [ca, cert, key] = ['ca.crt', `${name}.crt`, `${name}.key`].map((file) =>
      readFileSync(`${plane.directory}/${file}`),
    );
    const agent = new Agent({ ca, cert, key, keepAlive: true, maxSockets: options.atOnce });
    agents.push(agent);
    loops.push(
      ...Array.from({ length: options.atOnce }, async () => {
        while (!end.signal.aborted) {
          const status = await hold(plane.url, agent, options.holdMs, end.signal);
          answers[status] = (answers[status] ?? 0) + 1;
          if (status !== '201') await sleep(REFUSED_PAUSE_MS);
        }
      }),
    );
  }
  return {
    answers,
    stop: async () => {
      end.abort();
      await Promise.all(loops);
      for (const agent of agents) agent.destroy();
    },
  };
}

/** One object that is not kept, whose text comes to its end after `ms`; resolves to the HTTP status, or 'error'. */
function hold(url: string, agent: Agent, ms: number, signal: AbortSignal): Promise<string> {
  const text = JSON.stringify({ metadata: { generateName: 'held-' } });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': text.length };
  return new Promise((resolve) => {
    const call = request(`${url}/api/v1/namespaces/default/configmaps?dryRun=All`, {
      method: 'POST',
      agent,
      headers,
      signal,
    });
    call.once('response', (answer) => {
      answer.resume().once('close', () => resolve(String(answer.statusCode)));
    });
    call.once('error', () => resolve('error'));
    call.write(text.slice(0, 1));
    setTimeout(() => call.end(text.slice(1)), ms);
  });
}
