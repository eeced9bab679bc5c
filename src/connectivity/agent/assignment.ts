import { isIP } from 'node:net';
import * as z from 'zod';
import { problemTexts } from '../../api/problems.ts';
import { MOST_ASSIGNED_URLS, type Assignment } from '../protocol/measurement.ts';
import { isNodeName } from './udp/datagram.ts';

/** The assignment before the first answer of a server, and with an original server for ever. */
export const NO_ASSIGNMENT: Assignment = {
  peers: [],
  probes: { dns: false, apiServer: false, mtu: false },
  urls: [],
};

/** Limit of the body of an answer, bytes. MOST_PEERS take 20 kB. */
export const ASSIGNMENT_LIMIT_BYTES = 64 * 1024;
const MOST_PEERS = 64;
const MOST_ADDRESSES = 4;
const INTERVAL = 'must be a whole number from 2 to 86400';
const PORT = 'must be a whole number from 1 to 65535';
const SWITCH = z.boolean('must be true or false');

const peerSchema = z.object({
  node: z.string('must be a text').refine(isNodeName, 'must be the name of a node'),
  // Without a zone, as of link-local addresses: it is not part of URLs.
  addresses: z
    .array(z.string().refine((text) => isIP(text) > 0 && !text.includes('%'), 'must be an IP address'))
    .max(MOST_ADDRESSES, `must have at most ${MOST_ADDRESSES} entries`),
  port: z.int(PORT).min(1, PORT).max(65_535, PORT),
});

const assignmentSchema = z.object({
  intervalSeconds: z.int(INTERVAL).min(2, INTERVAL).max(86_400, INTERVAL).optional(),
  peers: z.array(peerSchema).max(MOST_PEERS, `must have at most ${MOST_PEERS} entries`),
  probes: z.object({ dns: SWITCH, apiServer: SWITCH, mtu: SWITCH }),
  urls: z.array(z.string().max(2_048)).max(MOST_ASSIGNED_URLS, `must have at most ${MOST_ASSIGNED_URLS} entries`),
});

/**
 * Reads the answer to a report. Unknown fields are ignored.
 *
 * @throws Error that names field, value and what is allowed
 */
export function readAssignment(text: string): Assignment {
  const json: unknown = JSON.parse(text);
  const { data, error } = assignmentSchema.safeParse(json);
  if (error !== undefined) throw new Error(problemTexts(json, error.issues).join('; '));
  const { intervalSeconds, ...rest } = data;
  return { ...rest, ...(intervalSeconds !== undefined && { intervalSeconds }) };
}
