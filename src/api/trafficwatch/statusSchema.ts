import * as z from 'zod';
import { conditionsSchema } from '../conditionsSchema.ts';
import { labelSelectorSchema } from '../labelSelector.ts';
import { blockedPodsSchema } from './blockedPods.ts';
import { int32, int64 } from '../integerSchema.ts';
import { nodeStatusSchema } from './nodeStatus.ts';
import { plannedSchema } from './planned.ts';
import { modeSchema } from './spec/mode.ts';
import { targetStatusSchema } from './spec/workload.ts';

/**
 * How many nodes `status.avoidedNodes` names. Each takes about 90 bytes of every pod that is created meanwhile, and the
 * policy's cost budget would allow far more.
 */
export const AVOIDED_AT_MOST = 100;

/** Schema of `status`. */
export const statusSchema = z
  .object({
    ready: z
      .boolean()
      .optional()
      .meta({
        description:
          'True once the nodes are decided, unless the TrafficWatch is Stalled. Equal to the condition Ready. ' +
          'Independent of the rollout of the Deployment and of the last pass.',
      }),
    decided: z.boolean().optional().meta({
      description:
        'True once two passes in a row had data, or as many as spec.passes asks for. It stays true during outages, restarts and stalls.',
    }),
    observedGeneration: int64('The generation of the spec that this status reflects.'),
    mode: modeSchema.meta({ description: 'The mode that this status reflects.' }),
    plan: plannedSchema,
    labelKey: z.string().optional().meta({ description: 'The key of the node labels. Absent with mode Observe.' }),
    podSelector: labelSelectorSchema(
      'With targetRef and podSelector: the pods that get the node affinity when they are created. The admission policy reads it.',
      'Unchecked',
    ),
    target: targetStatusSchema,
    avoidedNodes: z
      .array(z.string().max(253))
      .max(AVOIDED_AT_MOST)
      .optional()
      .meta({
        'x-kubernetes-list-type': 'atomic',
        description:
          'With placement AtCreation: names of the unfit nodes, in alphabetical order, which the admission policy excludes for ' +
          `pods that are created now. At most ${AVOIDED_AT_MOST}; the condition InjectionUnavailable says if there are more.`,
      }),
    blockedPods: blockedPodsSchema,
    fitNodes: int32('Number of nodes whose verdict is Fit.'),
    unfitNodes: int32('Number of nodes whose verdict is Unfit.'),
    unknownNodes: int32('Number of nodes whose verdict is Unknown.'),
    nodes: z.record(z.string(), nodeStatusSchema).optional().meta({
      description:
        'Figures and verdict of each node, by name. In clusters of more than 100 nodes at most 60 are listed: the 20 with the highest figures, then Unfit and Unknown nodes. Their figures are then written once a minute, and whenever another field of a listed node changes. The counts fitNodes, unfitNodes and unknownNodes cover all nodes.',
    }),
    conditions: conditionsSchema(
      'Ready, Reconciling, Stalled, PrometheusReachable, MetricsAvailable, BreakerOpen, TargetFound, InjectionUnavailable, NoFitNode.',
    ),
    breakerCoolingSince: z.string().optional().meta({
      format: 'date-time',
      description:
        'While BreakerOpen is True: since when the nodes above the threshold have been within the limit of unfit nodes. The breaker closes after spec.breakerCooldown.',
    }),
  })
  .optional()
  .meta({ description: 'The last observation and decision of the operator.' });
