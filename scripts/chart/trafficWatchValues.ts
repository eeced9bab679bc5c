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
    deployments: z
      .strictObject({
        enabled: z
          .boolean()
          .default(true)
          .describe(
            'Whether the operator writes the Deployments of TrafficWatches with spec.deployment. Grants the rights to create and patch Deployments. Without it, these TrafficWatches are Stalled (DeploymentsNotAllowed).',
          ),
        namespaces: allowedNamespaces.describe(
          'Namespaces in which the operator may create and patch Deployments, such as [shop]; "*": every namespace. They must exist. In others, TrafficWatches with spec.deployment are Stalled.',
        ),
      })
      .prefault({})
      .describe('The Deployments of TrafficWatches. Labels of nodes need no right to write Deployments.'),
  })
  .prefault({})
  .describe('TrafficWatches.');
