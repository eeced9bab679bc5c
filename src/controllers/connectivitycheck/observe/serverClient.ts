import { Agent, request } from 'undici';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import { EVALUATIONS_PATH, readEvaluations, type Evaluations } from '../../../connectivity/protocol/evaluation.ts';
import { WatchedFile } from '../../../prometheus/endpoint.ts';
import { systemClock } from '../../../runtime/process/clock.ts';
import { NameLookup } from '../../../runtime/process/nameLookup.ts';
import type { ServerFailure } from './observation.ts';

/** Time from the request to the end of the answer, ms. */
const ASK_DEADLINE_MS = 3_000;
/** How long a new connection waits for the DNS before it uses the addresses that were last known, ms. */
const LOOKUP_MS = 1_000;
/** Largest answer. An evaluation is bounded to about 16 KiB, so 250 checks fit. */
const LARGEST_ANSWER_BYTES = 4 * 1024 * 1024;

/** The server gave no usable answer. */
export class ServerError extends Error implements ServerFailure {
  readonly reason: ConnectivityReason;

  constructor(reason: ConnectivityReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Asks the connectivity server. */
export interface ServerClient {
  /** @throws ServerError */
  ask(stop: AbortSignal): Promise<Evaluations>;
  close(): Promise<void>;
}

/**
 * Creates the client of a server.
 *
 * @param url without a trailing slash
 * @param caFile PEM file, read again when it changes; replaces the certificate authorities of the system
 */
export function createServerClient(url: string, caFile: string | undefined): ServerClient {
  const file = caFile === undefined ? undefined : new WatchedFile(caFile);
  // While the DNS of the cluster is silent, the server says so; it must be reached without it.
  const lookup = new NameLookup(systemClock).lastKnown(LOOKUP_MS);
  let connection: { readonly agent: Agent; readonly ca: string | undefined } | undefined;
  const agentOf = async (): Promise<Agent> => {
    const ca = await readCa(file);
    if (connection?.ca === ca && connection !== undefined) return connection.agent;
    void connection?.agent.close();
    connection = { ca, agent: new Agent({ connections: 1, connect: { lookup, ...(ca !== undefined && { ca }) } }) };
    return connection.agent;
  };
  return {
    async ask(stop) {
      const agent = await agentOf();
      const deadline = AbortSignal.timeout(ASK_DEADLINE_MS);
      const body = await fetchBody(`${url}${EVALUATIONS_PATH}`, agent, AbortSignal.any([stop, deadline])).catch(
        (error: unknown) => {
          throw deadline.aborted ? tooLate() : failureOf(error);
        },
      );
      const read = readEvaluations(body);
      if ('problem' in read) throw new ServerError(ConnectivityReason.ServerBadAnswer, read.problem);
      return read.evaluations;
    },
    close: async () => connection?.agent.close(),
  };
}

async function readCa(file: WatchedFile | undefined): Promise<string | undefined> {
  try {
    return await file?.read();
  } catch (error) {
    throw new ServerError(ConnectivityReason.ServerBadConfiguration, (error as Error).message);
  }
}

async function fetchBody(url: string, dispatcher: Agent, signal: AbortSignal): Promise<string> {
  const { statusCode, body } = await request(url, { dispatcher, signal, headers: { accept: 'application/json' } });
  if (statusCode !== 200) {
    body.on('error', () => undefined).destroy();
    throw new ServerError(ConnectivityReason.ServerBadStatus, `HTTP ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_ANSWER_BYTES) {
      throw new ServerError(
        ConnectivityReason.ServerTooLarge,
        `the answer has more than ${LARGEST_ANSWER_BYTES} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function tooLate(): ServerError {
  return new ServerError(ConnectivityReason.ServerDeadline, `no complete answer within ${ASK_DEADLINE_MS / 1000} s`);
}

/** The text of a code does not change from one failure to the next, as ports and times in messages do. */
function failureOf(error: unknown): ServerError {
  if (error instanceof ServerError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new ServerError(ConnectivityReason.ServerUnreachable, `request failed: ${code ?? message}`);
}
