import type { DiscoveryV1EndpointPort, V1Endpoint, V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import { addressOf, addressOn, type NodeAddresses } from '../../../nodes/nodeAddress.ts';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { SERVICE_NAME_LABEL } from '../../../runtime/client/resources.ts';
import { AGENT_NAME, HOST_AGENT_NAME, PEER_PORT_NAME } from '../../../connectivity/objects/names.ts';

/** One exporter to scrape. */
export interface Target {
  /** Name of the Node it runs on. */
  node: string;
  /** host:port, an IPv6 host in brackets. */
  address: string;
}

/** The desired target files of Prometheus. */
export interface TargetFiles {
  /** The contents of the files as JSON for file_sd, at least one. Each fits into a ConfigMap. */
  files: string[];
  /** The number of nodes in all files. */
  count: number;
  /** Nodes that did not fit into any file. They are not scraped. */
  omitted: string[];
}

/** Maximum size of a file: bytes. A ConfigMap may have 1 MiB of data, and its other fields need space too. */
export const MAX_FILE_BYTES = 900_000;

/**
 * One target for each node that has an exporter with an address, sorted by node.
 *
 * An endpoint that is not ready is also a target, so that Prometheus reports `up` 0 instead of nothing. A node may have
 * several endpoints, during an update to another port or with two address families. Only one of them is a target,
 * because the node's counters would exist twice: a ready endpoint, or else one that is not ready, or else a terminating
 * one. Among equal ones, the smallest address is chosen, so that the order of endpoints does not matter.
 *
 * @param slices all EndpointSlices of the exporter's Service
 * @param portName name of the port to scrape
 */
export function targetsOf(slices: readonly V1EndpointSlice[], portName: string): Target[] {
  return bestOfEachNode(slices.flatMap((slice) => candidatesOf(slice, portName)));
}

/** Returns one target for each node, sorted by node: the candidate with the smallest rank, then the smallest address. */
function bestOfEachNode(candidates: readonly Candidate[]): Target[] {
  const best = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const rival = best.get(candidate.node);
    if (rival === undefined || comesBefore(candidate, rival)) best.set(candidate.node, candidate);
  }
  return [...best.values()].map(({ node, address }) => ({ node, address })).sort((a, b) => (a.node < b.node ? -1 : 1));
}

/**
 * Renders targets for file_sd, one line for each target, with the label `node`. Starts another file when one is full.
 *
 * @param targets sorted by node
 * @param maxFiles maximum number of files
 * @param maxBytes maximum size of a file
 */
export function renderTargetFiles(
  targets: readonly Target[],
  maxFiles: number,
  maxBytes: number = MAX_FILE_BYTES,
): TargetFiles {
  const groups = targets.map(({ node, address }) => ({ node, addresses: [address] }));
  return renderGroups(groups, maxFiles, maxBytes);
}

/** The targets of one node. */
interface TargetGroup {
  readonly node: string;
  /** As in file_sd, at least one. */
  readonly addresses: readonly string[];
}

/** As `renderTargetFiles`; the targets of a group are never divided. */
export function renderGroups(
  groups: readonly TargetGroup[],
  maxFiles: number,
  maxBytes: number = MAX_FILE_BYTES,
): TargetFiles {
  const parts: string[][] = [[]];
  const omitted: string[] = [];
  let room = maxBytes - FRAME_BYTES;
  for (const { node, addresses } of groups) {
    const line = JSON.stringify({ targets: addresses, labels: { node } });
    const size = byteLength(line) + SEPARATOR_BYTES;
    if (size > room && parts.length < maxFiles) {
      parts.push([]);
      room = maxBytes - FRAME_BYTES;
    }
    // After the first omitted target, omit all others too, so that always the last nodes by name are missing.
    if (size > room || omitted.length > 0) {
      omitted.push(node);
      continue;
    }
    parts.at(-1)?.push(line);
    room -= size;
  }
  return { files: parts.map(frame), count: groups.length - omitted.length, omitted };
}

/** A target, if the node has no better one. */
interface Candidate extends Target {
  /** Smaller is preferred. */
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
    // Consumers use the first address. The API does not define further addresses.
    const host = endpoint.addresses[0];
    if (host === undefined || !endpoint.nodeName) return [];
    return [{ node: endpoint.nodeName, address: addressOf(host, port), rank: rankOf(endpoint) }];
  });
}

function portOf(ports: readonly DiscoveryV1EndpointPort[], name: string): number | undefined {
  return ports.find((port) => port.name === name)?.port;
}

/** Ready, not ready, terminating. The API says that an unknown readiness means ready. */
function rankOf(endpoint: V1Endpoint): number {
  if (endpoint.conditions?.terminating === true) return 2;
  return endpoint.conditions?.ready === false ? 1 : 0;
}

function comesBefore(a: Candidate, b: Candidate): boolean {
  return a.rank === b.rank ? a.address < b.address : a.rank < b.rank;
}

/** The Services of the agents, by the network that the agents measure. */
export const AGENT_SERVICES: readonly (readonly [plane: Plane, service: string])[] = [
  ['Pod', AGENT_NAME],
  ['Host', HOST_AGENT_NAME],
];

/**
 * Returns the agents to scrape: one group for each node, sorted by node, with the agents that run there.
 *
 * The plane of an agent is part of its address, as in 10.0.0.1:8082/Host, and Prometheus moves it to a label. With a group
 * for each agent, the files would be twice as large: the name of the node is the larger part of a group.
 *
 * @param slices the EndpointSlices of the Services of the agents; others are ignored
 */
export function agentTargetsOf(slices: readonly V1EndpointSlice[]): TargetGroup[] {
  const byNode = new Map<string, string[]>();
  for (const [plane, service] of AGENT_SERVICES) {
    const own = slices.filter(({ metadata }) => metadata?.labels?.[SERVICE_NAME_LABEL] === service);
    for (const { node, address } of targetsOf(own, PEER_PORT_NAME)) {
      byNode.set(node, [...(byNode.get(node) ?? []), `${address}/${plane}`]);
    }
  }
  return [...byNode].map(([node, addresses]) => ({ node, addresses })).sort((a, b) => (a.node < b.node ? -1 : 1));
}

/**
 * Returns one target for each node that has a pod of an exporter, at the address of the node, sorted by node. As with EndpointSlices, a pod
 * that is not ready is also a target.
 *
 * @param pods the pods of a DaemonSet with hostNetwork
 * @param port the port of the exporter
 */
export function targetsOfPods(pods: readonly V1Pod[], port: number): Target[] {
  return bestOfEachNode(
    pods.flatMap((pod) => {
      const { spec, status } = pod;
      if (!spec?.nodeName || !status?.hostIP) return [];
      return [{ node: spec.nodeName, address: addressOf(status.hostIP, port), rank: rankOfPod(pod) }];
    }),
  );
}

/**
 * Returns one target for each node that can be measured and has an IP address, sorted by node: for a program without a Kubernetes object, such as a
 * systemd unit. The scrape shows whether it runs on a node.
 */
export function targetsOfNodes(nodes: readonly NodeAddresses[], port: number): Target[] {
  const targets = nodes.flatMap((node) => {
    const address = addressOn(node, port);
    return address === undefined ? [] : [{ node: node.name, address }];
  });
  return targets.sort((a, b) => (a.node < b.node ? -1 : 1));
}

/** Ready, not ready, terminating. */
function rankOfPod({ metadata, status }: V1Pod): number {
  if (metadata?.deletionTimestamp !== undefined) return 2;
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true ? 0 : 1;
}

/** Merges targets, sorted by node. A node in both lists has the target of the first: two targets would count its traffic twice. */
export function mergeTargets(first: readonly Target[], others: readonly Target[]): Target[] {
  const nodes = new Set(first.map(({ node }) => node));
  const all = [...first, ...others.filter(({ node }) => !nodes.has(node))];
  return all.sort((a, b) => (a.node < b.node ? -1 : 1));
}
