import type { V1Deployment } from '@kubernetes/client-node';
import { hasField } from '../../../runtime/apply/managedFields.ts';
import { isObject } from '../../../runtime/apply/mergePatch.ts';

/** Annotation on a Deployment: the replica count of the spec that an autoscaler overrides. */
export const OVERRULED_ANNOTATION = 'traffic.example.com/overruled-replicas';

/**
 * Annotation on a Deployment: the field managers that scaled it away from the count of the spec, each with the time of
 * the operator's last correction, RFC 3339. JSON. In the Deployment, so that a restarted operator knows them.
 */
export const CORRECTED_ANNOTATION = 'traffic.example.com/corrected-scalers';

const REPLICAS = ['f:spec', 'f:replicas'];

/**
 * The field manager of the HorizontalPodAutoscaler controller in most clusters. kube-controller-manager writes the
 * subresource `scale` for no other purpose, so its first write is recognised. Other programs contain the controller
 * under names of their own (k3s, kubelite of MicroK8s), or scale as well (KEDA): those are recognised by writing again.
 */
const HPA_CONTROLLER = 'kube-controller-manager';

/**
 * A client that scales again within this time after a correction is contested: ms. Autoscalers repeat their count within
 * seconds or minutes. `kubectl scale` once is drift; a person who repeats it within the hour means it.
 */
const REPEATED_WITHIN_MS = 3_600_000;

/** The clock of another replica of the operator, which noted the time, may be this far ahead: ms. */
const CLOCKS_DIFFER_MS = 60_000;

/** Maximum number of field managers in the annotation: the newest. */
const REMEMBERED_AT_MOST = 5;

/** An autoscaler, or another client, keeps setting the replicas, although the spec names a count. */
export interface ContestedReplicas {
  /** The count in the spec. */
  readonly wanted: number;
  /** The field manager that sets another count. */
  readonly by: string;
}

/** The Deployment to apply, and whether its replicas are contested. */
interface ReplicasDecision {
  readonly desired: V1Deployment;
  readonly contested?: ContestedReplicas;
}

/** Drops all managedFields except the entries of the subresource `scale`, in place. The transform of the Deployment cache. */
export function withScalersOnly(deployment: V1Deployment): V1Deployment {
  const { metadata } = deployment;
  const scalers = metadata?.managedFields?.filter(({ subresource }) => subresource === 'scale') ?? [];
  if (metadata !== undefined && scalers.length > 0) metadata.managedFields = scalers;
  else delete metadata?.managedFields;
  return deployment;
}

/** The field managers that set the present replicas through the subresource `scale`. Several set the same count. */
function scalersOf({ metadata }: V1Deployment): string[] {
  const owners = metadata?.managedFields?.filter((each) => each.subresource === 'scale' && hasField(each, REPLICAS));
  return owners?.flatMap(({ manager }) => manager ?? []) ?? [];
}

/** Field manager -> time of its last correction, ms since the epoch. */
type Corrections = ReadonlyMap<string, number>;

/** Leaves out what the operator did not write: anybody who may change the Deployment may change its annotations. */
function correctionsOf({ metadata }: V1Deployment, now: number): Corrections {
  try {
    const found: unknown = JSON.parse(metadata?.annotations?.[CORRECTED_ANNOTATION] ?? '{}');
    const entries = isObject(found) ? Object.entries(found) : [];
    const times = entries.map(([manager, at]) => [manager, typeof at === 'string' ? Date.parse(at) : NaN] as const);
    return new Map(times.filter(([, at]) => at <= now + CLOCKS_DIFFER_MS));
  } catch {
    return new Map();
  }
}

function withCorrections(known: Corrections, scalers: readonly string[], now: number): string {
  const others = [...known].filter(([manager]) => !scalers.includes(manager)).sort(([, a], [, b]) => b - a);
  const all = [...scalers.map((manager) => [manager, now] as const), ...others].slice(0, REMEMBERED_AT_MOST);
  return JSON.stringify(Object.fromEntries(all.map(([manager, at]) => [manager, new Date(at).toISOString()])));
}

/**
 * Decides who sets the replicas. If the spec and an autoscaler both wrote their count, each sync of the autoscaler would
 * start and stop pods. The spec therefore yields to a client that keeps writing the subresource `scale`, and a condition
 * asks the user to remove one of the two.
 *
 * | replicas in the spec | last set through `scale` by | corrected before       | overruled-replicas | replicas of the Deployment |
 * |----------------------|-----------------------------|------------------------|--------------------|----------------------------|
 * | none                 | any                         | any                    | any                | not contested              |
 * | a count              | no client                   | any                    | any                | the spec's: drift is corrected |
 * | a count              | kube-controller-manager     | any                    | none, or the same count | the autoscaler's      |
 * | a count              | another client, to that count | any                  | any                | the spec's: they agree     |
 * | a count              | another client              | no, or over an hour ago | none              | the spec's; the correction is noted |
 * | a count              | another client              | within the hour        | none               | the client's               |
 * | a count              | another client              | no                     | the same count     | the spec's: the overruling client no longer scales |
 * | a count              | another client              | at any time            | the same count     | the client's               |
 * | a count              | any client                  | any                    | another count      | the spec's, once: a person has just changed the spec |
 *
 * @param desired the Deployment of the spec
 * @param live the Deployment in the cluster
 * @param now ms since the epoch
 */
export function decideReplicas(desired: V1Deployment, live: V1Deployment, now: number): ReplicasDecision {
  const wanted = desired.spec?.replicas ?? undefined;
  if (wanted === undefined) return { desired };
  const annotations = live.metadata?.annotations ?? {};
  const overruled = annotations[OVERRULED_ANNOTATION];
  const noted = annotations[CORRECTED_ANNOTATION];
  const differs = live.spec?.replicas !== wanted;
  const corrections = correctionsOf(live, now);
  const scalers = scalersOf(live);
  const isChanged = overruled !== undefined && overruled !== String(wanted);
  const state = { isOverruled: overruled !== undefined, differs, corrections, now };
  const by = isChanged ? undefined : scalers.find((manager) => isContested(manager, state));
  if (by !== undefined) {
    const contested = { wanted, by };
    return { desired: withoutReplicas(remembering(desired, noted), contested), contested };
  }
  // The apply overwrites the count of these clients. Remember them: an autoscaler sets its count again.
  const corrected = differs || overruled !== undefined ? scalers.filter((manager) => manager !== HPA_CONTROLLER) : [];
  return { desired: remembering(desired, corrected.length > 0 ? withCorrections(corrections, corrected, now) : noted) };
}

function isContested(
  manager: string,
  o: { isOverruled: boolean; differs: boolean; corrections: Corrections; now: number },
): boolean {
  if (manager === HPA_CONTROLLER) return true;
  const corrected = o.corrections.get(manager);
  if (corrected === undefined || !o.differs) return false;
  return o.isOverruled || o.now - corrected < REPEATED_WITHIN_MS;
}

function remembering(desired: V1Deployment, corrections: string | undefined): V1Deployment {
  return corrections === undefined ? desired : annotated(desired, { [CORRECTED_ANNOTATION]: corrections });
}

/** The Deployment to apply while a client overrides the replicas: without replicas, with the annotation. */
function withoutReplicas(desired: V1Deployment, { wanted }: ContestedReplicas): V1Deployment {
  const spec = desired.spec === undefined ? undefined : { ...desired.spec };
  delete spec?.replicas;
  return { ...annotated(desired, { [OVERRULED_ANNOTATION]: String(wanted) }), spec };
}

function annotated(desired: V1Deployment, added: Readonly<Record<string, string>>): V1Deployment {
  const annotations = { ...desired.metadata?.annotations, ...added };
  return { ...desired, metadata: { ...desired.metadata, annotations } };
}
