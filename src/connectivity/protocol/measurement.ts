import * as z from 'zod';
import { MOST_CHARACTERS, NAME, NAME_MESSAGE } from '../../api/agent/report.ts';
import { PLANES } from '../../api/connectivitycheck/terms.ts';
import { problemTexts } from '../../api/problems.ts';
import { MOST_DATAGRAMS } from './limits.ts';

/**
 * The measurement between nodes by agents of this program: the field `connectivity` of a report. The original agent does
 * not send it, and neither the API nor the stores keep it. Agents import types only: the schemas would cost them memory.
 */

/** A type whose properties and lists, at any depth, are read-only: zod infers mutable ones. */
export type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

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

/**
 * Why a connection or a request failed. `Refused`: the peer's network answered, but no program listens there.
 * `TooLarge`: the local interface does not send a packet of this size.
 */
const PROBE_ERRORS = ['Timeout', 'Refused', 'Unreachable', 'Reset', 'TooLarge', 'NotFound', 'Other'] as const;
export type ProbeError = (typeof PROBE_ERRORS)[number];

/** Services of the cluster that agents probe. Only host agents probe the `Kubelet`, each on its own node. */
const TARGETS = ['APIServer', 'DNSUDP', 'DNSTCP', 'Kubelet'] as const;
export type Target = (typeof TARGETS)[number];

/**
 * Why an agent does not request an address: it leads to the node of the agent, or to a service of the cloud that hands out
 * credentials to whoever reaches it. See docs/security.md.
 */
const TARGET_REFUSALS = [
  'Loopback',
  'LinkLocal',
  'OwnAddress',
  'Unspecified',
  'Multicast',
  'Broadcast',
  'CloudMetadata',
] as const;
export type TargetRefusal = (typeof TARGET_REFUSALS)[number];

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
const ms = number(LONGEST_MS).exactOptional();
const error = choice(PROBE_ERRORS).exactOptional();

/** The result of a request to one peer by HTTP over TCP, on a new connection. */
const tcp = z
  .object(
    {
      ok: flag,
      /** From the start to the end of the response, ms. Absent if it failed. */
      ms,
      /** Absent if it succeeded. */
      error,
    },
    'must be an object',
  )
  .refine((result) => !result.ok || result.error === undefined, {
    path: ['error'],
    message: 'must be absent if ok is true',
  });

/** The result of a run of UDP datagrams that the peer echoes. */
const udp = z
  .object(
    {
      sent: whole(MOST_DATAGRAMS),
      received: whole(MOST_DATAGRAMS),
      /** Median round-trip time, ms. Absent if none was received. */
      ms,
      /** Why none could be sent or received, where the system said so. */
      error,
    },
    'must be an object',
  )
  .refine(({ sent, received }) => received <= sent, { path: ['received'], message: 'must not be more than sent' });

/** The largest packet that passes. Sizes are bytes of the IP packet, headers included. */
const mtu = z
  .object(
    {
      /** MTU of the local interface towards the peer: the largest size that was tried. */
      interface: whole(LARGEST_PACKET, 1),
      /** The largest size that was echoed. Equal to `interface` if all pass. */
      largest: whole(LARGEST_PACKET),
    },
    'must be an object',
  )
  .refine((sizes) => sizes.largest <= sizes.interface, {
    path: ['largest'],
    message: 'must not be more than interface',
  });

/** A measurement towards one address of another node's agent, on the same plane. */
const peer = z.object(
  {
    /** Node of the peer. */
    node: name,
    address: ipAddress,
    tcp,
    udp,
    /** Absent if it was not measured, for example since no small packet passes. */
    mtu: mtu.exactOptional(),
  },
  'must be an object',
);

/** A measurement towards a service of the cluster. */
const target = z.object(
  {
    target: choice(TARGETS),
    /** Address and port that was asked. */
    address: z.string('must be a text').max(300, 'must have at most 300 characters'),
    ok: flag,
    ms,
    error,
  },
  'must be an object',
);

/** A URL that an agent did not request, or whose redirect it did not follow. It says nothing about the network. */
const refused = z.object(
  {
    /** As the check has it. */
    url: z.string('must be a text').max(LONGEST_URL, `must have at most ${LONGEST_URL} characters`),
    /** The address that the URL, or a redirect, leads to. */
    address: ipAddress,
    reason: choice(TARGET_REFUSALS),
  },
  'must be an object',
);

/**
 * Datagrams that came from the agents of other nodes since the last report, by node. If a node sent and nothing was heard,
 * the direction towards this agent is cut; the echo alone cannot say which direction is.
 */
const heard = z
  .record(z.string(), whole(MOST_DATAGRAMS), 'must be an object with a number for each node')
  .refine((map) => Object.keys(map).length <= MOST_HEARD, `must have at most ${MOST_HEARD} keys`)
  .refine((map) => Object.keys(map).every((key) => name.safeParse(key).success), {
    message: `its keys must be names of nodes: ${NAME_MESSAGE}`,
  });

/** The measurement of one agent in its last interval. Unknown fields are dropped, so that newer agents can report. */
const measurementSchema = z.object(
  {
    plane: choice(PLANES),
    /** Port on which the agent answers HTTP and echoes UDP, on all addresses of its pod. */
    port: whole(65_535, 1),
    peers: list(peer, MOST_PEERS),
    targets: list(target, MOST_TARGETS),
    /** Absent if none was refused. */
    refused: list(refused, MOST_REFUSED).exactOptional(),
    heard,
    /** Time from the start of the measurement to the start of the report, ms. Absent: not known. */
    tookMs: ms,
  },
  'must be an object',
);

export type Measurement = Immutable<z.infer<typeof measurementSchema>>;
export type PeerResult = Immutable<z.infer<typeof peer>>;
export type TcpResult = PeerResult['tcp'];
export type UdpResult = PeerResult['udp'];
export type MtuResult = Immutable<z.infer<typeof mtu>>;
export type TargetResult = Immutable<z.infer<typeof target>>;
export type RefusedUrl = Immutable<z.infer<typeof refused>>;

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

/** A peer that an agent is to probe. */
export interface Peer {
  readonly node: string;
  /** Addresses of the peer's agent on the same plane: one for each address family of its pod. */
  readonly addresses: readonly string[];
  readonly port: number;
}

/** The task of an agent until its next report: the answer to a report that has a measurement. */
export interface Assignment {
  /** Seconds between two reports, which takes the place of `-reportinterval`; absent: as the flag says. */
  readonly intervalSeconds?: number;
  readonly peers: readonly Peer[];
  readonly probes: { readonly dns: boolean; readonly apiServer: boolean; readonly mtu: boolean };
  /** URLs to request in addition to `-probeurls`. */
  readonly urls: readonly string[];
}
