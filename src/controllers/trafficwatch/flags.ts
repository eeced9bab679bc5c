import { list, withDefault, type FlagTable } from '../../options/flagTable.ts';
import { boolean, dnsLabel, wholeNumber } from '../../options/values.ts';

/**
 * The flags of the manager for TrafficWatches. Each TrafficWatch has a label of at most 90 bytes on every Node, twice with
 * its entry in `managedFields`, and etcd stores no object beyond 1.5 MiB: 2,000 leave room for the labels of others.
 */
export const TRAFFIC_WATCH_FLAGS = {
  mostWatchesPerNamespace: withDefault(
    wholeNumber(1, 5_000),
    '200',
    'Decide at most this many TrafficWatches of a namespace: the oldest.',
  ),
  mostWatches: withDefault(
    wholeNumber(1, 5_000),
    '2000',
    'Decide at most this many TrafficWatches of the cluster: the oldest. Each is a label on every Node.',
  ),
  mostReadingsPerNamespace: withDefault(
    wholeNumber(4, 100_000),
    '100',
    'Evaluate at most this many readings for the TrafficWatches of a namespace, the oldest TrafficWatches first. Each distinct combination of direction, measure, devices and capacity counts once for each pass of spec.passes, so at least twice.',
  ),
  mostReadings: withDefault(
    wholeNumber(4, 100_000),
    '400',
    'Evaluate at most this many readings for the TrafficWatches of the cluster: each namespace gets the readings that it needs up to an equal share, and the rest of other shares. Each takes 250 bytes of memory for each node. With more nodes, only as many are evaluated as fit into a quarter of the heap.',
  ),
  deployments: withDefault(
    boolean,
    'true',
    'Write the Deployments of TrafficWatches with spec.deployment. Without it, these are Stalled (DeploymentsNotAllowed), and the operator needs no right to write Deployments for them.',
  ),
  deploymentNamespace: list(
    dnsLabel,
    'Namespace in which the operator writes Deployments of TrafficWatches. Without this flag: every namespace.',
  ),
} as const satisfies FlagTable;
