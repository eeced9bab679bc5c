import { z } from 'zod';
import { TRAFFIC_WATCH_FLAGS } from '../../src/controllers/trafficwatch/flags.ts';
import { allowedNamespaces } from './shapes.ts';

/** The values about TrafficWatches. */
export const trafficWatch = z
  .strictObject({
    mostPerNamespace: z
      .int()
      .min(1)
      .max(5000)
      .default(Number(TRAFFIC_WATCH_FLAGS.mostWatchesPerNamespace.default))
      .describe('How many TrafficWatches of a namespace are decided at most: the oldest. The others are Stalled.'),
    most: z
      .int()
      .min(1)
      .max(5000)
      .default(Number(TRAFFIC_WATCH_FLAGS.mostWatches.default))
      .describe(
        'How many TrafficWatches of the cluster are decided at most: the oldest. Each is a label on every node.',
      ),
    mostReadingsPerNamespace: z
      .int()
      .min(4)
      .max(100_000)
      .default(Number(TRAFFIC_WATCH_FLAGS.mostReadingsPerNamespace.default))
      .describe(
        'How many readings are evaluated at most for the TrafficWatches of a namespace: the readings of the oldest. The others are Stalled (TooManyReadings). Each distinct combination of direction, measure, devices and capacity counts once for each pass of spec.passes, so at least twice.',
      ),
    mostReadings: z
      .int()
      .min(4)
      .max(100_000)
      .default(Number(TRAFFIC_WATCH_FLAGS.mostReadings.default))
      .describe(
        'The same for all TrafficWatches of the cluster: each namespace gets those it needs up to an equal share, and what others leave. Each takes 250 bytes of memory for each node. With more nodes, only as many are evaluated as fit into a quarter of the heap.',
      ),
    deployments: z
      .strictObject({
        enabled: z
          .boolean()
          .default(true)
          .describe(
            'Whether the operator writes the Deployments of TrafficWatches with spec.deployment. Grants the rights to create and patch Deployments. Without it, these TrafficWatches are Stalled (DeploymentsNotAllowed).',
          ),
        namespaces: allowedNamespaces
          .min(1)
          .default(['*'])
          .describe(
            'Namespaces in which the operator may create and patch Deployments, such as [shop]; "*": every namespace. They must exist. In others, TrafficWatches with spec.deployment are Stalled.',
          ),
      })
      .prefault({})
      .describe('The Deployments of TrafficWatches. Labels of nodes need no right to write Deployments.'),
  })
  .prefault({})
  .describe('TrafficWatches.');
