import type { V1Endpoint, V1EndpointSlice } from '@kubernetes/client-node';
import { addressOf } from '../../../nodes/nodeAddress.ts';
import { SERVICE_NAME_LABEL } from '../../../runtime/client/resources.ts';
import { PART_OF } from '../../contract/labels.ts';
import { OPERATOR_METRICS_PORT, PLACEMENT_JOB, WEIGHTS_JOB } from '../names.ts';

const COMPONENT = 'app.kubernetes.io/component';
const INSTANCE = 'app.kubernetes.io/instance';
/** The other processes of a release by their component, as the chart names it, and the `job` of each. */
const JOBS: ReadonlyMap<string, string> = new Map([
  ['weights', WEIGHTS_JOB],
  ['placement-webhook', PLACEMENT_JOB],
]);

/** One pod of the operator to scrape. */
export interface OperatorTarget {
  readonly pod: string;
  /** host:port, an IPv6 host in brackets. */
  readonly address: string;
  /** The label `job`. Undefined: the job of the scrape configuration. */
  readonly job?: string;
}

/**
 * Returns the operator's pods, sorted by name: all endpoints of the Services that select this process's own pod and have a port
 * named `metrics`. This works without the name of the Service, which depends on the release, and excludes other
 * Services of the namespace. A pod that is not ready is also a target. The result includes the pods of the other processes: the
 * endpoints of Services of the same release with their component, whose labels Kubernetes copies to their EndpointSlices.
 *
 * @param slices EndpointSlices of the operator's namespace
 * @param ownPod name of the pod that this process runs in; undefined outside of a cluster, where there is no target
 */
export function operatorTargets(slices: readonly V1EndpointSlice[], ownPod: string | undefined): OperatorTarget[] {
  const withPort = slices.filter((slice) => portOf(slice) !== undefined && slice.addressType !== 'FQDN');
  const services = new Set(withPort.filter((slice) => hasPod(slice, ownPod)).map(serviceOf));
  const own = withPort.filter((slice) => services.has(serviceOf(slice)));
  const releases = new Set(own.map(releaseOf));
  const others = [...JOBS].flatMap(([component, job]) => {
    const slicesOf = withPort.filter((slice) => isOf(component, slice) && releases.has(releaseOf(slice)));
    return targetsOf(slicesOf).map((target) => ({ ...target, job }));
  });
  return [...targetsOf(own), ...others];
}

function targetsOf(slices: readonly V1EndpointSlice[]): OperatorTarget[] {
  const targets = new Map<string, string>();
  for (const { pod, address } of slices.flatMap(targetsIn)) {
    const other = targets.get(pod);
    // A pod with two address families is one target, always with the smaller address.
    if (other === undefined || address < other) targets.set(pod, address);
  }
  return [...targets].map(([pod, address]) => ({ pod, address })).sort((a, b) => (a.pod < b.pod ? -1 : 1));
}

/** Renders the targets for file_sd, with the label `pod`, and `job` where it differs from the job of the scrape configuration. */
export function renderOperatorTargets(targets: readonly OperatorTarget[]): string {
  const groups = targets.map(({ address, ...labels }) => ({ targets: [address], labels }));
  return `${JSON.stringify(groups, undefined, 1)}\n`;
}

function targetsIn(slice: V1EndpointSlice): OperatorTarget[] {
  const port = portOf(slice) ?? 0;
  return (slice.endpoints ?? []).flatMap((endpoint) => {
    const [host] = endpoint.addresses;
    const pod = podOf(endpoint);
    if (host === undefined || pod === undefined) return [];
    return [{ pod, address: addressOf(host, port) }];
  });
}

function portOf(slice: V1EndpointSlice): number | undefined {
  return slice.ports?.find(({ name }) => name === OPERATOR_METRICS_PORT)?.port;
}

function hasPod(slice: V1EndpointSlice, pod: string | undefined): boolean {
  return pod !== undefined && (slice.endpoints ?? []).some((endpoint) => podOf(endpoint) === pod);
}

function podOf({ targetRef }: V1Endpoint): string | undefined {
  return targetRef?.kind === 'Pod' ? targetRef.name : undefined;
}

function serviceOf(slice: V1EndpointSlice): string {
  return slice.metadata?.labels?.[SERVICE_NAME_LABEL] ?? '';
}

function isOf(component: string, { metadata }: V1EndpointSlice): boolean {
  return metadata?.labels?.[COMPONENT] === component && metadata.labels['app.kubernetes.io/part-of'] === PART_OF;
}

function releaseOf({ metadata }: V1EndpointSlice): string | undefined {
  return metadata?.labels?.[INSTANCE];
}
