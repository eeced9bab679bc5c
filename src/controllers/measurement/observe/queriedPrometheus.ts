import {
  componentsIn,
  TRAFFIC_STACKS,
  type TrafficStack,
  type UsedObject,
} from '../../../api/trafficstack/trafficStack.ts';
import type { PrometheusFlags } from '../../contract/flags.ts';
import type { StackSource } from '../../contract/context.ts';
import { DEFAULT_STACK, identityOfStack, usedBy } from '../../contract/stackOwnership.ts';
import { askingOnlyOurs } from './ownPrometheus.ts';
import { measurementEndpoint } from '../options.ts';
import type { CommonFlags } from '../../../options/commonFlags.ts';
import type { PrometheusEndpoint } from '../../../prometheus/endpoint.ts';
import { createPrometheusClient, type PrometheusClient, routedClient } from '../../../prometheus/prometheusClient.ts';
import { BodyBudget, createBoundedInformer } from '../../../runtime/cache/bodyBudget.ts';
import { shareOfHeap } from '../../../runtime/cache/fairShare.ts';
import { withoutManagedFields } from '../../../runtime/cache/informer.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { Transport } from '../../../runtime/client/transport.ts';
import type { RuntimeMetrics } from '../../../runtime/manager/metrics.ts';
import type { Logger } from '../../../runtime/process/logger.ts';

/** Part of the heap for the bodies of all stacks. The objects that they are rendered to take about as much again. */
const PART_OF_HEAP = 1 / 12;

/** Returns the Prometheus of the flags, or else the Prometheus that the operator deploys. */
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

/**
 * Creates the informer of TrafficStacks. It keeps the body of the stack `default` in any case. If all stacks take too much memory, it drops
 * bodies of the largest (isWithoutBody).
 *
 * @param flags whether the stacks of users are on
 * @param trim drops the parts that the process does not read
 */
export function createStacks(
  { transport, metrics, logger }: Parts,
  { stacks: withUsers }: { readonly stacks: boolean },
  trim: (stack: TrafficStack) => TrafficStack = withoutManagedFields,
): StackSource {
  const common = { transport, logger, metrics: metrics.reflector };
  const isDefault = ({ metadata }: TrafficStack): boolean => metadata?.name === DEFAULT_STACK;
  return {
    informer: createBoundedInformer({ ...common, resource: TRAFFIC_STACKS, transform: trim }, identityOfStack, {
      ...{ budget: new BodyBudget(Infinity, keyOf), share: shareOfHeap(PART_OF_HEAP), isExempt: isDefault },
    }),
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
interface PrometheusChoice {
  readonly endpoint: PrometheusEndpoint;
  /** Whether `endpoint` is the Prometheus that the operator deploys. */
  readonly isOwn: boolean;
  /** See askingOnlyOurs. */
  readonly foreign: () => string | undefined | Promise<string | undefined>;
  /** See usedServerOf. */
  readonly used: () => UsedObject | undefined;
}

/** Creates a client of the Prometheus that is queried. */
export function createPrometheus({ endpoint, isOwn, foreign, used }: PrometheusChoice): PrometheusClient {
  const client = createPrometheusClient(endpoint);
  return isOwn ? routedClient(askingOnlyOurs(client, foreign), () => used()?.url) : client;
}

/** Keeps of a TrafficStack what `usedServerOf` reads: enough for a process that runs no stack. */
export function trimToUses(stack: TrafficStack): TrafficStack {
  const { name, resourceVersion, deletionTimestamp } = stack.metadata ?? {};
  const components = componentsIn(stack).filter(({ type }) => type === 'Prometheus');
  const names = new Set(components.map((component) => component.name));
  const { inventory = [], components: statuses = [] } = stack.status ?? {};
  return {
    ...stack,
    metadata: { name, resourceVersion, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    spec: { components: components.map(({ name, type, mode }) => ({ name, type, mode })) },
    status: {
      inventory: inventory
        .filter(({ component }) => names.has(component))
        .map(({ component, objects }) => ({ component, dependsOn: [], objects: objects.slice(0, 1) })),
      components: statuses.filter((status) => names.has(status.name)),
    },
  };
}

/**
 * The Prometheus that a TrafficStack uses instead of the operator's, as the status of the stack says, so that a restart changes nothing.
 *
 * @param stacks undefined with --prometheus-url: then no stack chooses the Prometheus
 */
export function usedServerOf(stacks: Pick<StackSource, 'informer'> | undefined): () => UsedObject | undefined {
  if (stacks === undefined) return () => undefined;
  // Also of a stack that is no longer run: without its Prometheus, nothing would be measured.
  return () => usedBy(stacks.informer.lister.list(), 'Prometheus')?.workload;
}
