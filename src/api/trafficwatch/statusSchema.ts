import * as z from 'zod';
import { conditionsSchema } from '../conditionsSchema.ts';
import { labelSelectorSchema } from '../labelSelector.ts';
import { blockedPodsSchema } from './blockedPods.ts';
import { plannedSchema } from './planned.ts';
import { modeSchema } from './spec/mode.ts';

const nodeStatus = z
  .object({
    currentBandwidthPercent: z.string().optional().meta({
      description: 'Bandwidth use in percent, such as "1.06976e-04"; empty if it is unknown.',
    }),
    currentTransmitTotal: int64(
      'Bytes sent over the measured devices since their counters started, whatever the direction.',
    ),
    time: int64('Time of the measurement in seconds since 1970-01-01 UTC.'),
    unfit: z.boolean().optional().meta({
      description: 'Value of the node label; with mode Observe, the value that it would have.',
    }),
    verdict: z.enum(['Fit', 'Unfit', 'Unknown']).optional().meta({
      description: 'Verdict of the last passes; Unknown if there are no figures.',
    }),
    reason: z.string().optional().meta({ description: 'Reason of the verdict, one CamelCase word.' }),
    message: z.string().optional().meta({
      description: 'Set while one device is above maxBandwidthPercent although the node is not: names the device.',
    }),
    since: z.string().optional().meta({ format: 'date-time', description: 'Time of the last change of the verdict.' }),
  })
  // No field is required: a status of PKopel/traffic-operator has only the first four, and must stay valid until it is
  // replaced.
  .meta({ description: 'Figures and verdict of one node.' });

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
    labelKey: z.string().optional().meta({ description: 'The label key that is in force on the nodes.' }),
    podSelector: labelSelectorSchema(
      'With targetRef and podSelector: the pods that get the node affinity when they are created. The admission policy reads it.',
    ),
    blockedPods: blockedPodsSchema,
    fitNodes: int32('Number of nodes whose verdict is Fit.'),
    unfitNodes: int32('Number of nodes whose verdict is Unfit.'),
    unknownNodes: int32('Number of nodes whose verdict is Unknown.'),
    nodes: z.record(z.string(), nodeStatus).optional().meta({
      description:
        'Figures and verdict of each node, by name. In clusters of more than 100 nodes at most 60 are listed: the 20 with the highest figures, then Unfit and Unknown nodes. Their figures are then written once a minute, and whenever another field of a listed node changes. The counts fitNodes, unfitNodes and unknownNodes cover all nodes.',
    }),
    conditions: conditionsSchema(
      'Ready, Reconciling, Stalled, PrometheusReachable, MetricsAvailable, BreakerOpen, TargetFound, InjectionUnavailable, NoFitNode.',
    ),
    breakerCoolingSince: z.string().optional().meta({
      format: 'date-time',
      description:
        'While BreakerOpen is True: since when no more nodes are above the threshold than can be unfit. The breaker closes after spec.breakerCooldown.',
    }),
  })
  .optional()
  .meta({ description: 'The last observation and decision of the operator.' });

function int64(description: string) {
  // No zod integer: its maximum is 2^53 - 1, which a byte counter can exceed.
  return z.number().optional().meta({ type: 'integer', format: 'int64', description });
}

function int32(description: string) {
  return z.number().optional().meta({ type: 'integer', format: 'int32', description });
}
