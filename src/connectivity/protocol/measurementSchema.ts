import * as z from 'zod';
import { MOST_CHARACTERS, NAME, NAME_MESSAGE } from '../../api/agent/report.ts';
import { problemTexts } from '../../api/problems.ts';
import { PLANES } from '../../api/connectivitycheck/terms.ts';
import { MOST_DATAGRAMS, PROBE_ERRORS, TARGET_REFUSALS, TARGETS, type Measurement } from './measurement.ts';

/** Limits of a measurement. A body of 64 KiB has room for about 250 results; an agent has 64 peers of two addresses. */
const MOST_PEERS = 128;
const MOST_TARGETS = 16;
/** URLs of the checks and of `-probeurls`, 50 each, and the server's URL. */
const MOST_REFUSED = 128;
const LONGEST_URL = 2_048;
/** Agents of other nodes that sent datagrams: the number of watchers of a node varies while peers rotate. */
const MOST_HEARD = 1_000;
const LONGEST_MS = 86_400_000;
/** The largest packet of IP. */
const LARGEST_PACKET = 65_536;

const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);
const number = (most: number) =>
  z
    .number(`must be a number from 0 to ${most}`)
    .min(0, `must be a number from 0 to ${most}`)
    .max(most, `must be a number from 0 to ${most}`);
const whole = (most: number, least = 0) => {
  const allowed = `must be a whole number from ${least} to ${most}`;
  return z.int(allowed).min(least, allowed).max(most, allowed);
};
const list = <T extends z.ZodType>(item: T, most: number) => {
  const allowed = `must be a list of at most ${most} entries`;
  return z.array(item, allowed).max(most, allowed);
};

// Two checks in one: the pattern is not tried on a name of 64 KiB.
const name = z.string(NAME_MESSAGE).refine((text) => text.length <= MOST_CHARACTERS && NAME.test(text), NAME_MESSAGE);
const ipAddress = z.union([z.ipv4(), z.ipv6()], 'must be an IPv4 or IPv6 address');
const flag = z.boolean('must be true or false');
const error = choice(PROBE_ERRORS);
const ms = number(LONGEST_MS);

const tcp = z
  .object({ ok: flag, ms: ms.exactOptional(), error: error.exactOptional() }, 'must be an object')
  .refine((result) => !result.ok || result.error === undefined, {
    path: ['error'],
    message: 'must be absent if ok is true',
  });

const udp = z
  .object(
    {
      sent: whole(MOST_DATAGRAMS),
      received: whole(MOST_DATAGRAMS),
      ms: ms.exactOptional(),
      error: error.exactOptional(),
    },
    'must be an object',
  )
  .refine(({ sent, received }) => received <= sent, { path: ['received'], message: 'must not be more than sent' });

const mtu = z
  .object({ interface: whole(LARGEST_PACKET, 1), largest: whole(LARGEST_PACKET) }, 'must be an object')
  .refine((sizes) => sizes.largest <= sizes.interface, {
    path: ['largest'],
    message: 'must not be more than interface',
  });

const peer = z.object({ node: name, address: ipAddress, tcp, udp, mtu: mtu.exactOptional() }, 'must be an object');

const target = z.object(
  {
    target: choice(TARGETS),
    address: z.string('must be a text').max(300, 'must have at most 300 characters'),
    ok: flag,
    ms: ms.exactOptional(),
    error: error.exactOptional(),
  },
  'must be an object',
);

const refused = z.object(
  {
    url: z.string('must be a text').max(LONGEST_URL, `must have at most ${LONGEST_URL} characters`),
    address: ipAddress,
    reason: choice(TARGET_REFUSALS),
  },
  'must be an object',
);

const heard = z
  .record(z.string(), whole(MOST_DATAGRAMS), 'must be an object with a number for each node')
  .refine((map) => Object.keys(map).length <= MOST_HEARD, `must have at most ${MOST_HEARD} keys`)
  .refine((map) => Object.keys(map).every((key) => name.safeParse(key).success), {
    message: `its keys must be names of nodes: ${NAME_MESSAGE}`,
  });

/** The field `connectivity` of a report. Fields that are not known are dropped, so that newer agents can report. */
const measurementSchema = z.object(
  {
    plane: choice(PLANES),
    port: whole(65_535, 1),
    peers: list(peer, MOST_PEERS),
    targets: list(target, MOST_TARGETS),
    refused: list(refused, MOST_REFUSED).exactOptional(),
    heard,
    tookMs: ms.exactOptional(),
  },
  'must be an object',
);

const bodySchema = z.object({ connectivity: measurementSchema.exactOptional() });

/**
 * Reads the measurement of a report.
 *
 * @param body the JSON object of the report
 * @returns without `measurement` if the report has none; one sentence for each problem, which names field, value and
 *   what is allowed
 */
export function readMeasurement(body: object): { measurement?: Measurement } | { problems: string[] } {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) return { problems: problemTexts(body, parsed.error.issues) };
  const { connectivity } = parsed.data;
  return connectivity === undefined ? {} : { measurement: connectivity };
}
