import * as z from 'zod';
import { int64, int32, conditionsSchema } from '../fieldSchemas.ts';
import { labelSelectorSchema } from '../labelSelector.ts';
import { modeSchema } from './spec/mode.ts';
import { targetStatusSchema } from './spec/workload.ts';

/** The verdict on a node. Unknown means that there are no figures; it does not mean fit. */
export type Verdict = 'Fit' | 'Unfit' | 'Unknown';

const CAPACITY_SOURCES = ['Spec', 'Annotation', 'Label', 'ActiveSlaves', 'Series'] as const;

/** Schema of an entry of `status.nodes`. */
const nodeStatusSchema = z
  .object({
    currentBandwidthPercent: z.string().optional().meta({
      description: 'Bandwidth use in percent, such as "1.06976e-04"; empty if it is unknown.',
    }),
    currentTransmitTotal: int64(
      'Bytes sent over the measured devices since their counters started, whatever the direction.',
    ),
    capacity: z.string().optional().meta({
      description:
        'Capacity that the percent refers to, such as "25Gbit", rounded to two decimals. Absent without a percent.',
    }),
    capacitySource: z
      .enum(CAPACITY_SOURCES)
      .optional()
      .meta({
        description:
          'Where the capacity comes from: Spec, an entry of spec.capacity; Annotation, traffic.example.com/capacity of the ' +
          'Node; Label, the node label that --capacity-label names; ActiveSlaves, the link speeds in the series, with a ' +
          'bond among the devices, which counts with the speed of the slaves that can send; or Series, the link speeds.',
      }),
    time: int64('Time of the measurement in seconds since 1970-01-01 UTC.'),
    unfit: z.boolean().optional().meta({
      description: 'Value of the node label; with mode Observe, the value that it would have.',
    }),
    verdict: z.enum(['Fit', 'Unfit', 'Unknown']).optional().meta({
      description: 'Verdict of the last passes; Unknown if there are no figures.',
    }),
    reason: z.string().optional().meta({ description: 'Reason of the verdict, one CamelCase word.' }),
    message: z
      .string()
      .optional()
      .meta({
        description:
          'Says why the node has no figure or no verdict, and what to do; or names the device that is above ' +
          'maxBandwidthPercent although the node is not.',
      }),
    since: z.string().optional().meta({ format: 'date-time', description: 'Time of the last change of the verdict.' }),
    labelSince: z.string().optional().meta({
      format: 'date-time',
      description: 'With mode Observe: time of the last change of the label that the node would have.',
    }),
  })
  // No field is required: a status of PKopel/traffic-operator has only the first four, and must stay valid until it is
  // replaced.
  .meta({ description: 'Figures and verdict of one node.' });

/** Figures and verdict of one node. A status of PKopel/traffic-operator lacks `verdict`, `reason` and `since`. */
export interface NodeStatus {
  /** Percent, such as "1.06976e-04"; '' if unknown. */
  currentBandwidthPercent: string;
  /** Bytes. */
  currentTransmitTotal?: number;
  /** In the form of the capacity annotation, such as "25Gbit"; absent without a percent. */
  capacity?: string;
  capacitySource?: (typeof CAPACITY_SOURCES)[number];
  /** Unix seconds. */
  time?: number;
  unfit: boolean;
  verdict: Verdict;
  reason: string;
  /** Why the node has no figure or no verdict, or the device that is above the threshold although the node is not. */
  message?: string;
  /** RFC 3339; absent if the list had no room for the node when its verdict changed. */
  since?: string;
  /** RFC 3339; only with mode Observe. Absent if the node has no figures yet, or the time is not known. */
  labelSince?: string;
}

/** How many pods `status.blockedPods` names. */
export const NAMED_AT_MOST = 3;

/** The pods that find no node, since nodes that they would use are unfit. */
export interface BlockedPods {
  count: number;
  /** The first names in alphabetical order, at most NAMED_AT_MOST. */
  names: string[];
}

/** Schema of `status.blockedPods`. */
const blockedPodsSchema = z
  .object({
    count: int32('Number of these pods.'),
    names: z
      .array(z.string())
      .max(NAMED_AT_MOST)
      .optional()
      .meta({ description: `Names of these pods, at most ${NAMED_AT_MOST}, in alphabetical order.` }),
  })
  .optional()
  .meta({
    description:
      'With placement Required and AtCreation: pods of the workload that are Pending, since the scheduler found no node for their ' +
      'node affinity while nodes are unfit. Absent if there are none.',
  });

const DEPLOYMENT_STEPS = ['Create', 'Apply', 'Wait', 'None'] as const;

/** The step that Enforce would take with the Deployment. */
export type DeploymentStep = (typeof DEPLOYMENT_STEPS)[number];

/** The writes that Enforce would make. */
export interface Planned {
  /** How many nodes would get another label value. */
  nodesToLabel: number;
  deployment: DeploymentStep;
}

/** Schema of `status.plan`. */
const plannedSchema = z
  .object({
    nodesToLabel: int32('Number of nodes whose label would be written. A node without the label counts.'),
    deployment: z
      .enum(DEPLOYMENT_STEPS)
      .optional()
      .meta({
        description:
          'Create: the Deployment is missing and would be created. Apply: it exists and would be changed where it ' +
          'differs from the spec. Wait: its creation would wait for data. None: it would not be written.',
      }),
  })
  .optional()
  .meta({ description: 'With mode Observe: what Enforce would write now.' });

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
