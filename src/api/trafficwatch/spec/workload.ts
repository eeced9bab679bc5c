import * as z from 'zod';
import type { V1DeploymentSpec } from '@kubernetes/client-node';
import { labelSelectorSchema, type LabelSelector } from '../../labelSelector.ts';
import { patternSchema } from '../../fieldSchemas.ts';
import type { Placement } from './placement.ts';

const ONE_MESSAGE = 'exactly one of deployment, targetRef and podSelector must be set';
const KEPT_MESSAGE =
  'deployment cannot be added or removed: delete the TrafficWatch (with --cascade=orphan to keep its Deployment) and create another';
const DAEMONSET_MESSAGE =
  'must be Preferred for a DaemonSet: otherwise its pods on unfit nodes would stay Pending, since each belongs to one node';
const AT_CREATION_MESSAGE =
  'must be Required or Preferred with deployment: AtCreation needs the admission policy, which applies to targetRef and podSelector';

/** Parts of the URL of the target: nothing else may be in them. */
const API_VERSION = '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$';
const KIND = '^[A-Z][A-Za-z0-9]*$';
const NAME = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';

/** The longest name of an object. */
const LONGEST = 253;

function text(description: string, pattern: string, message: string) {
  return patternSchema(description, { pattern, message, longest: LONGEST });
}

/** Schema of `spec.targetRef`. */
export const targetRefSchema = z
  .object({
    apiVersion: text(
      'API version of the workload, such as apps/v1.',
      API_VERSION,
      'must be an API group and version, such as apps/v1',
    ),
    kind: text('Kind of the workload, such as StatefulSet.', KIND, 'must be a kind, such as StatefulSet'),
    name: text(
      'Name of the workload.',
      NAME,
      'must be the name of a workload: lower case letters, digits, "-" and "."',
    ),
  })
  .optional()
  .meta({
    description:
      'A workload in the same namespace whose pods are kept off unfit nodes: a Deployment, StatefulSet, ReplicaSet, ' +
      'DaemonSet, Job, CronJob, or any kind with a scale subresource. It is not changed: an admission policy adds the ' +
      'node affinity to its pods when they are created. Needs Kubernetes 1.36 or newer.',
  });

/** Reference to a workload in the namespace of the TrafficWatch, as in VerticalPodAutoscaler and Flagger. */
export type TargetRef = NonNullable<z.infer<typeof targetRefSchema>>;

/** Schema of `status.target`. */
export const targetStatusSchema = z
  .object({
    apiVersion: z.string().meta({ description: 'Its API version.' }),
    kind: z.string().meta({ description: 'Its kind.' }),
    name: z.string().meta({ description: 'Its name.' }),
  })
  .optional()
  .meta({ description: 'With targetRef: the workload that podSelector was read from.' });

/** Schema of `spec.podSelector`. */
export const podSelectorSchema = labelSelectorSchema(
  'Selects the pods of the same namespace that are kept off unfit nodes. Neither pods nor their workloads are changed: ' +
    'an admission policy adds the node affinity to pods when they are created. Needs Kubernetes 1.36 or newer.',
  'Checked',
);

/** The fields of a spec that name the workload. Exactly one is set in a valid spec. */
interface WorkloadSpec {
  readonly deployment?: V1DeploymentSpec | undefined;
  readonly targetRef?: TargetRef | undefined;
  readonly podSelector?: LabelSelector | undefined;
  readonly placement?: Placement | undefined;
}

/** The rules of `checkWorkload` for the API server, and one for updates. */
export const WORKLOAD_VALIDATIONS = [
  {
    rule: '[has(self.deployment), has(self.targetRef), has(self.podSelector)].filter(isSet, isSet).size() == 1',
    message: ONE_MESSAGE,
  },
  { rule: 'has(self.deployment) == has(oldSelf.deployment)', message: KEPT_MESSAGE },
  {
    rule: "!has(self.targetRef) || self.targetRef.kind != 'DaemonSet' || !has(self.placement) || self.placement == 'Preferred'",
    fieldPath: '.placement',
    message: DAEMONSET_MESSAGE,
  },
  {
    rule: "!has(self.deployment) || !has(self.placement) || self.placement != 'AtCreation'",
    fieldPath: '.placement',
    message: AT_CREATION_MESSAGE,
  },
];

/** Reports a spec without a workload or with several, and a placement that the workload cannot have. */
export function checkWorkload(spec: WorkloadSpec, context: z.RefinementCtx): void {
  const set = [spec.deployment, spec.targetRef, spec.podSelector].filter((field) => field !== undefined);
  if (set.length !== 1) context.addIssue({ code: 'custom', path: [], message: ONE_MESSAGE });
  const { placement = 'Preferred' } = spec;
  if (spec.targetRef?.kind === 'DaemonSet' && placement !== 'Preferred') {
    context.addIssue({ code: 'custom', path: ['placement'], message: DAEMONSET_MESSAGE });
  }
  if (spec.deployment !== undefined && placement === 'AtCreation') {
    context.addIssue({ code: 'custom', path: ['placement'], message: AT_CREATION_MESSAGE });
  }
}

const object = <S extends z.ZodRawShape>(shape: S) => z.looseObject(shape, 'must be an object');
const list = <T extends z.ZodType>(item: T) => z.array(item, 'must be a list');

const requirements = list(object({})).nullish();
const term = object({ matchExpressions: requirements, matchFields: requirements });
const required = object({ nodeSelectorTerms: list(term).nullish() });
const nodeAffinity = object({ requiredDuringSchedulingIgnoredDuringExecution: required.nullish() });
const affinity = object({ nodeAffinity: nodeAffinity.nullish() });
const podSpec = object({ affinity: affinity.nullish(), containers: list(object({})) });

const int32 = z.int32('must be a whole number below 2147483648').nullish();

/**
 * The parts of a DeploymentSpec that the operator checks itself: the path to its node affinity, the required fields,
 * and the numbers, because the API server rejects a bad number without the field's name or lets it overflow. The API
 * server checks everything else.
 */
const frame = object({
  selector: object({}),
  template: object({ spec: podSpec.optional() }),
  minReadySeconds: int32,
  progressDeadlineSeconds: int32,
  replicas: int32,
  revisionHistoryLimit: int32,
});

/** The problems of a DeploymentSpec: the path within the spec, and the allowed values. */
export function deploymentFrameProblems(deployment: unknown): { path: PropertyKey[]; message: string }[] {
  const parsed = frame.safeParse(deployment);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => ({ path, message }));
}
