import type { V1DeploymentSpec } from '@kubernetes/client-node';
import * as z from 'zod';
import type { Condition } from '../../runtime/controller/conditions.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import { conditionsSchema } from '../conditionsSchema.ts';
import type { CustomResource } from '../crd.ts';
import { deploymentFrameProblems } from './deploymentFrame.ts';
import { placementSchema } from './placement.ts';
import { problemTexts } from '../problems.ts';

export const GROUP = 'traffic.example.com';
export const VERSION = 'v1alpha1';

/** What a label key says behind the watch's own prefix: `<prefix>.traffic.example.com/unfit`. */
const LABEL_KEY_SUFFIX = `.${GROUP}/unfit`;
/** A label key's prefix has at most 253 characters (DNS subdomain); `.traffic.example.com` takes 20 of them. */
const MAX_PREFIX_LENGTH = 253 - `.${GROUP}`.length;
const MAX_THRESHOLD_LENGTH = 32;
/**
 * Decimal or exponent, as Go's ParseFloat takes it, but for hexadecimal and words. Two significant exponent digits
 * and 32 characters keep the value finite (below 1e131) whatever the digits are.
 */
const THRESHOLD_PATTERN = String.raw`^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?0*[0-9]{1,2})?$`;
/** DNS-1123 subdomain: apimachinery's validation.IsDNS1123Subdomain, which does not bound the single labels. */
const LABEL_PATTERN = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$';

const THRESHOLD_MESSAGE =
  'must be a finite number of at least 0, decimal or with an exponent of at most two digits, such as "12.5" or "1.5e-03"';
const LABEL_MESSAGE =
  'must be empty or the start of a DNS name: lower case letters, digits, "-" and ".", ' +
  `each part beginning and ending with a letter or digit, at most ${MAX_PREFIX_LENGTH} characters, ` +
  `since <label>${LABEL_KEY_SUFFIX} becomes the label key of nodes`;
const NAME_MESSAGE =
  `metadata.name has more than ${MAX_PREFIX_LENGTH} characters, too many for the node label key ` +
  `<name>${LABEL_KEY_SUFFIX}; use a shorter name or set spec.label`;
const DEPLOYMENT_MESSAGE = 'must be a DeploymentSpec of apps/v1 with a selector and a template';

/** The verdict on a node: Unknown means that nothing usable was measured, never that it is fit. */
export type Verdict = 'Fit' | 'Unfit' | 'Unknown';

const maxBandwidthPercent = z
  .string()
  .max(MAX_THRESHOLD_LENGTH, `must be at most ${MAX_THRESHOLD_LENGTH} characters long`)
  .refine((value) => new RegExp(THRESHOLD_PATTERN).test(value), THRESHOLD_MESSAGE)
  .meta({
    description:
      'Threshold in percent of a node\'s bandwidth: a node that sends more than this is unfit. A decimal number or one with an exponent, such as "60" or "1.5e-03".',
    'x-kubernetes-validations': [{ rule: `self.matches('${THRESHOLD_PATTERN}')`, message: THRESHOLD_MESSAGE }],
  });

const label = z
  .string()
  .max(MAX_PREFIX_LENGTH, LABEL_MESSAGE)
  .refine((value) => new RegExp(LABEL_PATTERN).test(value), LABEL_MESSAGE)
  .optional()
  .meta({
    description: `Nodes get the label <label>${LABEL_KEY_SUFFIX} with "true" or "false". Empty or absent: the name of this object stands in for it.`,
    'x-kubernetes-validations': [{ rule: `self.matches('${LABEL_PATTERN}')`, message: LABEL_MESSAGE }],
  });

/** The CRD carries the API server's own schema here (`x-deployment-spec` is replaced by it); this looks at the frame only. */
const deployment = z
  .custom<V1DeploymentSpec>(isObject, DEPLOYMENT_MESSAGE)
  .superRefine((value, context) => {
    for (const found of deploymentFrameProblems(value)) context.addIssue({ code: 'custom', ...found });
  })
  .meta({ 'x-deployment-spec': true, description: 'The workload to keep off unfit nodes: the spec of a Deployment.' });

const nodeStatus = z
  .object({
    currentBandwidthPercent: z.string().optional().meta({
      description: 'Percent of the bandwidth in use, such as "1.06976e-04"; empty when it is not known.',
    }),
    currentTransmitTotal: int64('Bytes sent over the measured devices since they came up.'),
    time: int64('When it was measured, in seconds since 1970.'),
    unfit: z.boolean().optional().meta({ description: 'What the label on the node says.' }),
    verdict: z.enum(['Fit', 'Unfit', 'Unknown']).optional().meta({
      description: 'What the last passes say; Unknown when there is no usable measurement.',
    }),
    reason: z.string().optional().meta({ description: 'Why the verdict is what it is, in one CamelCase word.' }),
    since: z.string().optional().meta({ format: 'date-time', description: 'When the verdict became what it is.' }),
  })
  // None is required: a status that PKopel/traffic-operator wrote has the first four only, and has to stay valid
  // until it is replaced.
  .meta({ description: 'What is known of one node.' });

const statusSchema = z
  .object({
    ready: z
      .boolean()
      .optional()
      .meta({
        description:
          'True once the nodes are decided, unless the TrafficWatch is Stalled; equal to the condition Ready. It says ' +
          'nothing of the rollout, nor of the last pass.',
      }),
    decided: z.boolean().optional().meta({
      description: 'True once two passes in a row had data, for good: it outlasts outages, restarts and stalls.',
    }),
    observedGeneration: int64('The generation of the spec that this status is about.'),
    labelKey: z.string().optional().meta({ description: 'The label key in force on the nodes.' }),
    fitNodes: int32('Number of nodes whose verdict is Fit.'),
    unfitNodes: int32('Number of nodes whose verdict is Unfit.'),
    unknownNodes: int32('Number of nodes whose verdict is Unknown.'),
    nodes: z.record(z.string(), nodeStatus).optional().meta({
      description:
        'What is known of each node, by name. Beyond 100 nodes at most 60 are listed: the 20 with the highest figures, then those that are Unfit or Unknown; the figures of all that are listed are then written once a minute, and whenever anything else that is said of one of them changes. The counts beside it are of all nodes.',
    }),
    conditions: conditionsSchema('Ready, Reconciling, Stalled, PrometheusReachable and MetricsAvailable.'),
  })
  .optional()
  .meta({ description: 'What the operator last saw and decided.' });

const specSchema = z
  .object({ maxBandwidthPercent, label, placement: placementSchema, deployment })
  .meta({ description: 'What to watch for and the workload to keep off nodes that are over it.' });

/** The whole object. The CRD's schema is generated from it (see crd.ts), and objects are parsed with it. */
export const trafficWatchSchema = z
  .object({
    apiVersion: z.string().optional(),
    kind: z.string().optional(),
    metadata: z.custom<NonNullable<KubeObject['metadata']>>().optional().meta({ type: 'object' }),
    spec: specSchema,
    status: statusSchema,
  })
  .refine((watch) => fitsLabelKey(watch.metadata?.name ?? '', watch.spec.label), NAME_MESSAGE)
  .meta({
    description: "Watches the nodes' network and keeps a Deployment off those that use too much of their bandwidth.",
    'x-kubernetes-validations': [
      {
        rule: `size(self.metadata.name) <= ${MAX_PREFIX_LENGTH} || (has(self.spec.label) && self.spec.label != '')`,
        message: NAME_MESSAGE,
      },
    ],
  });

/** What is wanted: threshold in percent (as text), label prefix, workload. */
export type TrafficWatchSpec = z.infer<typeof specSchema>;

/** What is known of one node. A status that another operator wrote may lack `verdict`, `reason` and `since`. */
export interface NodeStatus {
  /** "1.06976e-04", '' when unknown. */
  currentBandwidthPercent: string;
  /** Bytes. */
  currentTransmitTotal?: number;
  /** Unix seconds. */
  time?: number;
  unfit: boolean;
  verdict: Verdict;
  reason: string;
  /** RFC 3339; absent where the list had no room for the node when it turned. */
  since?: string;
}

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

/** What the CRD says beside the schema. Columns with a priority are shown with `-o wide` only. */
export const trafficWatchResource: CustomResource = {
  resource: TRAFFIC_WATCHES,
  schema: trafficWatchSchema,
  singular: 'trafficwatch',
  shortNames: ['tw'],
  categories: ['traffic'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Max %', type: 'string', jsonPath: '.spec.maxBandwidthPercent' },
    { name: 'Fit', type: 'integer', jsonPath: '.status.fitNodes' },
    { name: 'Unfit', type: 'integer', jsonPath: '.status.unfitNodes' },
    { name: 'Unknown', type: 'integer', jsonPath: '.status.unknownNodes' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Label', type: 'string', jsonPath: '.status.labelKey', priority: 1 },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
  ],
};

/**
 * Reads the spec of an object as it came from the API server, which may hold one that an older CRD let through.
 * `problems` name the field, the value and what is allowed, one sentence each.
 */
export function parseTrafficWatchSpec(object: unknown): { spec: TrafficWatchSpec } | { problems: string[] } {
  const parsed = trafficWatchSchema.safeParse(withoutStatus(object));
  if (parsed.success) return { spec: parsed.data.spec };
  return { problems: problemTexts(object, parsed.error.issues) };
}

/** The threshold in percent; the text is one that `parseTrafficWatchSpec` let through. */
export function thresholdOf(spec: TrafficWatchSpec): number {
  return Number(spec.maxBandwidthPercent);
}

/** The node label key of a watch: `<spec.label or metadata.name>.traffic.example.com/unfit`. */
export function labelKeyOf(watch: TrafficWatch): string {
  const { label: prefix = '' } = watch.spec;
  return `${prefix === '' ? (watch.metadata?.name ?? '') : prefix}${LABEL_KEY_SUFFIX}`;
}

/** Whether a value is a label key as `labelKeyOf` makes them. */
export function isLabelKey(value: unknown): value is string {
  if (typeof value !== 'string' || !value.endsWith(LABEL_KEY_SUFFIX)) return false;
  const prefix = labelPrefixOf(value);
  return prefix !== '' && prefix.length <= MAX_PREFIX_LENGTH && new RegExp(LABEL_PATTERN).test(prefix);
}

/** What stands before the suffix of a label key: the label, or the name of its TrafficWatch. */
export function labelPrefixOf(labelKey: string): string {
  return labelKey.slice(0, -LABEL_KEY_SUFFIX.length);
}

function int64(description: string) {
  // No zod integer: it stops at 2^53 - 1, which a byte counter can pass.
  return z.number().optional().meta({ type: 'integer', format: 'int64', description });
}

function int32(description: string) {
  return z.number().optional().meta({ type: 'integer', format: 'int32', description });
}

function fitsLabelKey(name: string, prefix: string | undefined): boolean {
  return name.length <= MAX_PREFIX_LENGTH || (prefix ?? '') !== '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The status is ours to write, and never a reason not to read the spec. */
function withoutStatus(object: unknown): unknown {
  return isObject(object) ? { ...object, status: undefined } : object;
}
