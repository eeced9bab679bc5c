import { TRAFFIC_STACKS, type TrafficStack, type UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import type { PrometheusFlags } from '../../contract/flags.ts';
import type { StackSource } from '../../contract/context.ts';
import { DEFAULT_STACK, usedBy } from '../../contract/keepers.ts';
import { askingOnlyOurs } from './ownPrometheus.ts';
import { measurementEndpoint } from '../options.ts';
import type { CommonFlags } from '../../../options/commonFlags.ts';
import type { PrometheusEndpoint } from '../../../prometheus/endpoint.ts';
import { createPrometheusClient, type PrometheusClient } from '../../../prometheus/prometheusClient.ts';
import { routedClient } from '../../../prometheus/routedClient.ts';
import { createInformer, withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { Transport } from '../../../runtime/client/transport.ts';
import type { RuntimeMetrics } from '../../../runtime/manager/metrics.ts';
import type { Logger } from '../../../runtime/process/logger.ts';

/** The Prometheus of the flags, or else the one that the operator deploys. */
export function endpointOf(flags: PrometheusFlags & Pick<CommonFlags, 'namespace'>): PrometheusEndpoint {
  const { prometheusUrl, prometheusUsername, prometheusPasswordFile, prometheusHeader } = flags;
  if (prometheusUrl === undefined) {
    return { url: measurementEndpoint(flags), isNear: true };
  }
  const hasPassword = prometheusUsername !== undefined && prometheusPasswordFile !== undefined;
  return {
    url: prometheusUrl,
    ...(hasPassword && { basicAuth: { username: prometheusUsername, passwordFile: prometheusPasswordFile } }),
    bearerTokenFile: flags.prometheusBearerTokenFile,
    caFile: flags.prometheusCaFile,
    headers: Object.fromEntries(prometheusHeader.map(({ name, value }) => [name, value])),
  };
}

interface Parts {
  readonly transport: Transport;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

/** Creates the informer of TrafficStacks. @param flags whether the stacks of users are on */
export function createStacks(
  { transport, metrics, logger }: Parts,
  { stacks: withUsers }: { readonly stacks: boolean },
): StackSource {
  const common = { transport, logger, metrics: metrics.reflector };
  const isDefault = ({ metadata }: TrafficStack): boolean => metadata?.name === DEFAULT_STACK;
  return {
    informer: createInformer({ ...common, resource: TRAFFIC_STACKS, transform: withoutManagedFields }),
    active: (stacks) => (withUsers ? stacks : stacks.filter(isDefault)),
  };
}

/** The namespaces whose Prometheus gates and weights may query: see askingOnlyTrusted. */
export function trustedNamespaces({
  namespace,
  discoveryNamespace,
}: Pick<PrometheusFlags, 'discoveryNamespace'> & Pick<CommonFlags, 'namespace'>): readonly string[] {
  return [namespace, ...discoveryNamespace];
}

/** Which Prometheus is queried. */
export interface PrometheusChoice {
  readonly endpoint: PrometheusEndpoint;
  /** Whether `endpoint` is the Prometheus that the operator deploys. */
  readonly isOwn: boolean;
  /** See askingOnlyOurs. */
  readonly foreign: () => string | undefined | Promise<string | undefined>;
  /** URL of what usedServerOf returns. */
  readonly usedUrl: () => string | undefined;
}

/** A client of the Prometheus that is queried. */
export function createPrometheus({ endpoint, isOwn, foreign, usedUrl }: PrometheusChoice): PrometheusClient {
  const client = createPrometheusClient(endpoint);
  return isOwn ? routedClient(askingOnlyOurs(client, foreign), usedUrl) : client;
}

/**
 * The Prometheus that a TrafficStack uses instead of the operator's, as the status of the stack says, so that a restart changes nothing.
 *
 * @param isOwn as in PrometheusChoice: with --prometheus-url, no stack is asked
 */
export function usedServerOf(
  isOwn: boolean,
  { informer }: Pick<StackSource, 'informer'>,
): () => UsedObject | undefined {
  if (!isOwn) return () => undefined;
  // Also of a stack that is no longer run: without its Prometheus, nothing would be measured.
  return () => usedBy(informer.lister.list(), 'Prometheus')?.workload;
}
