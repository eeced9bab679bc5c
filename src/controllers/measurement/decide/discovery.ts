import type { DiscoveryV1EndpointPort, V1Endpoint, V1EndpointSlice } from '@kubernetes/client-node';

/** One exporter to scrape. */
export interface Target {
  /** Name of the Node it runs on. */
  node: string;
  /** host:port, an IPv6 host in brackets. */
  address: string;
}

/** What Prometheus' target files shall say. */
export interface TargetFiles {
  /** Contents in file_sd's JSON, at least one. Each fits in a ConfigMap. */
  files: string[];
  /** How many targets they have together. */
  count: number;
  /** Nodes for which no file had room: they are not scraped. */
  omitted: string[];
}

/** As large as a file may get: the API server takes 1 MiB of data in a ConfigMap, and its other fields need room too. */
export const MAX_FILE_BYTES = 900_000;

/**
 * One target for each node that has an exporter with an address, sorted by node.
 *
 * An endpoint that is not ready is a target as well: Prometheus then says `up` 0 of it, where otherwise there would be
 * silence. Of several endpoints of one node (an update moves it to another port, or the Service has two address
 * families) only the best is a target, since the node's counters would be there twice: a ready one, then one that is
 * not on its way out, then the smallest address, so that it is the same one whatever the order they come in.
 *
 * @param slices all EndpointSlices of the exporter's Service
 * @param portName of the port to scrape
 */
export function targetsOf(slices: readonly V1EndpointSlice[], portName: string): Target[] {
  const best = new Map<string, Candidate>();
  for (const candidate of slices.flatMap((slice) => candidatesOf(slice, portName))) {
    const rival = best.get(candidate.node);
    if (rival === undefined || comesBefore(candidate, rival)) best.set(candidate.node, candidate);
  }
  return [...best.values()].map(({ node, address }) => ({ node, address })).sort((a, b) => (a.node < b.node ? -1 : 1));
}

/**
 * Writes targets as file_sd reads them, a line each, each with a `node` label. A file that is full is followed by
 * another one.
 *
 * @param targets sorted
 * @param maxFiles how many files there may be
 */
export function renderTargetFiles(
  targets: readonly Target[],
  maxFiles: number,
  maxBytes: number = MAX_FILE_BYTES,
): TargetFiles {
  const parts: string[][] = [[]];
  const omitted: string[] = [];
  let room = maxBytes - FRAME_BYTES;
  for (const target of targets) {
    const line = JSON.stringify({ targets: [target.address], labels: { node: target.node } });
    const size = byteLength(line) + SEPARATOR_BYTES;
    if (size > room && parts.length < maxFiles) {
      parts.push([]);
      room = maxBytes - FRAME_BYTES;
    }
    // The rest of the line is given up too, so that it is the last nodes by name that are left out, always the same.
    if (size > room || omitted.length > 0) {
      omitted.push(target.node);
      continue;
    }
    parts.at(-1)?.push(line);
    room -= size;
  }
  return { files: parts.map(frame), count: targets.length - omitted.length, omitted };
}

interface Candidate extends Target {
  /** Smaller is better. */
  rank: number;
}

/** '[\n' and '\n]\n' around the lines, ',\n' between them. */
const FRAME_BYTES = 5;
const SEPARATOR_BYTES = 2;

function frame(lines: readonly string[]): string {
  return lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function candidatesOf(slice: V1EndpointSlice, portName: string): Candidate[] {
  const port = portOf(slice.ports ?? [], portName);
  if (port === undefined || slice.addressType === 'FQDN') return [];
  return (slice.endpoints ?? []).flatMap((endpoint) => {
    // Consumers use the first address; the API leaves open what more of them would mean.
    const host = endpoint.addresses[0];
    if (host === undefined || !endpoint.nodeName) return [];
    const address = slice.addressType === 'IPv6' ? `[${host}]:${port}` : `${host}:${port}`;
    return [{ node: endpoint.nodeName, address, rank: rankOf(endpoint) }];
  });
}

function portOf(ports: readonly DiscoveryV1EndpointPort[], name: string): number | undefined {
  return ports.find((port) => port.name === name)?.port;
}

/** An unknown readiness is to be read as ready, says the API. */
function rankOf(endpoint: V1Endpoint): number {
  if (endpoint.conditions?.terminating === true) return 2;
  return endpoint.conditions?.ready === false ? 1 : 0;
}

function comesBefore(a: Candidate, b: Candidate): boolean {
  return a.rank === b.rank ? a.address < b.address : a.rank < b.rank;
}
