import type { V1DeploymentSpec } from '@kubernetes/client-node';
import * as z from 'zod';
import type { Condition } from '../../runtime/controller/conditions.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import { OBJECT_FIELDS } from '../fieldSchemas.ts';
import { conditionPath, type CustomResource } from '../crd.ts';
import { GROUP } from '../group.ts';
import { capacitySchema } from './spec/capacity.ts';
import {
  deploymentFrameProblems,
  checkWorkload,
  podSelectorSchema,
  targetRefSchema,
  WORKLOAD_VALIDATIONS,
  type TargetRef,
} from './spec/workload.ts';
import { labelSchema } from './label.ts';
import {
  missingDataSchema,
  minHoldSchema,
  passesSchema,
  checkThresholds,
  maxBandwidthPercent,
  recoverBandwidthPercent,
  THRESHOLD_VALIDATIONS,
} from './spec/verdict.ts';
import { modeSchema, type Mode } from './spec/mode.ts';
import {
  breakerCooldownSchema,
  checkCooldown,
  COOLDOWN_VALIDATIONS,
  maxUnfitSchema,
  minFitSchema,
} from './spec/nodeCount.ts';
import { nodeSelectorSchema } from './spec/nodeSelector.ts';
import { placementSchema } from './spec/placement.ts';
import { devicesSchema, directionSchema, measureSchema } from './spec/reading.ts';
import { type BlockedPods, type NodeStatus, type Planned, statusSchema } from './statusSchema.ts';
import { problemTexts } from '../problems.ts';
import type { LabelSelector } from '../labelSelector.ts';

export const VERSION = 'v1alpha1';

const DEPLOYMENT_MESSAGE = 'must be a DeploymentSpec of apps/v1 with a selector and a template';

/** The CRD contains the schema of apps/v1 here, which replaces `x-deployment-spec`; this schema checks only the frame. */
const deployment = z
  .custom<V1DeploymentSpec>(isObject, DEPLOYMENT_MESSAGE)
  .superRefine((value, context) => {
    for (const found of deploymentFrameProblems(value)) context.addIssue({ code: 'custom', ...found });
  })
  .optional()
  .meta({
    'x-deployment-spec': true,
    description: 'The spec of a Deployment that the operator creates, and whose pods are kept off unfit nodes.',
  });

const specSchema = z
  .object({
    maxBandwidthPercent,
    recoverBandwidthPercent,
    passes: passesSchema,
    minHold: minHoldSchema,
    missingData: missingDataSchema,
    direction: directionSchema,
    measure: measureSchema,
    devices: devicesSchema,
    capacity: capacitySchema,
    mode: modeSchema,
    maxUnfit: maxUnfitSchema,
    minFit: minFitSchema,
    breakerCooldown: breakerCooldownSchema,
    nodeSelector: nodeSelectorSchema,
    label: labelSchema,
    placement: placementSchema,
    deployment,
    targetRef: targetRefSchema,
    podSelector: podSelectorSchema,
  })
  .superRefine(checkThresholds)
  .superRefine(checkCooldown)
  .superRefine(checkWorkload)
  .meta({
    description: 'The threshold, and the workload to keep off nodes above it.',
    'x-kubernetes-validations': [...THRESHOLD_VALIDATIONS, ...COOLDOWN_VALIDATIONS, ...WORKLOAD_VALIDATIONS],
  });

/** The whole object. The CRD's schema is generated from it (see crd.ts), and it parses objects. */
export const trafficWatchSchema = z
  .object({
    ...OBJECT_FIELDS,
    spec: specSchema,
    status: statusSchema,
  })
  .meta({
    description:
      'Measures the bandwidth use of all nodes and keeps the pods of a workload off nodes above a threshold.',
  });

/** The fields of a TrafficWatch that users write. */
export type TrafficWatchSpec = z.infer<typeof specSchema>;

export interface TrafficWatchStatus {
  ready?: boolean;
  decided?: boolean;
  nodes?: Record<string, NodeStatus>;
  conditions?: Condition[];
  observedGeneration?: number;
  fitNodes?: number;
  unfitNodes?: number;
  unknownNodes?: number;
  labelKey?: string;
  /** Absent with `deployment`, and while the target is unknown. */
  podSelector?: LabelSelector;
  /** The target that `podSelector` was read from; absent with `spec.podSelector`. */
  target?: TargetRef;
  /** With AtCreation: see AVOIDED_AT_MOST. Absent if no node is unfit. */
  avoidedNodes?: string[];
  /** Absent if no pod is blocked. */
  blockedPods?: BlockedPods;
  mode?: Mode;
  /** Only with mode Observe. */
  plan?: Planned;
  /** RFC 3339; present while the breaker is open only for spec.breakerCooldown. */
  breakerCoolingSince?: string;
}

export interface TrafficWatch extends KubeObject {
  spec: TrafficWatchSpec;
  status?: TrafficWatchStatus;
}

export const TRAFFIC_WATCHES: Resource<TrafficWatch> = {
  group: GROUP,
  version: VERSION,
  kind: 'TrafficWatch',
  plural: 'trafficwatches',
  namespaced: true,
};

/** The CRD without its schema. Columns with a priority appear only with `-o wide`. */
export const trafficWatchResource: CustomResource = {
  resource: TRAFFIC_WATCHES,
  schema: trafficWatchSchema,
  singular: 'trafficwatch',
  shortNames: ['tw'],
  categories: ['traffic'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready') },
    { name: 'Mode', type: 'string', jsonPath: '.status.mode' },
    { name: 'Max %', type: 'string', jsonPath: '.spec.maxBandwidthPercent' },
    { name: 'Fit', type: 'integer', jsonPath: '.status.fitNodes' },
    { name: 'Unfit', type: 'integer', jsonPath: '.status.unfitNodes' },
    { name: 'Unknown', type: 'integer', jsonPath: '.status.unknownNodes' },
    { name: 'Breaker', type: 'string', jsonPath: conditionPath('BreakerOpen') },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Label', type: 'string', jsonPath: '.status.labelKey', priority: 1 },
    { name: 'Reason', type: 'string', jsonPath: conditionPath('Ready', 'reason'), priority: 1 },
  ],
};

/**
 * Parses the spec of an object from the API server, which may store an object that an older CRD accepted. Each entry of
 * `problems` is one sentence with the field, its value and the allowed values.
 */
export function parseTrafficWatchSpec(object: unknown): { spec: TrafficWatchSpec } | { problems: string[] } {
  const parsed = trafficWatchSchema.safeParse(withoutStatus(object));
  if (parsed.success) return { spec: parsed.data.spec };
  return { problems: problemTexts(object, parsed.error.issues) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Only the operator writes the status, so a bad status must not prevent parsing the spec. */
function withoutStatus(object: unknown): unknown {
  return isObject(object) ? { ...object, status: undefined } : object;
}
