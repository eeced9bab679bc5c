import type { V1Deployment, V1OwnerReference } from '@kubernetes/client-node';
import { placementOf } from '../../../../api/trafficwatch/placement.ts';
import { GROUP, VERSION, type TrafficWatch } from '../../../../api/trafficwatch/schema.ts';
import { withFitNodes } from './affinity.ts';
import { contestedReplicas, withoutReplicas, type ContestedReplicas } from './replicas.ts';

/**
 * Label of the Deployments that were made for TrafficWatches, by which the cache is limited to them: in a large
 * cluster most Deployments are none of ours.
 */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'traffic-operator' };

/** How long a workload waits for its monitoring before it is created without: ms. */
export const WAIT_FOR_DATA_MS = 60_000;

/** When the wait for data begins: with the TrafficWatch, or with the feed where that is later. Ms since the epoch. */
export function waitingSinceOf(watch: TrafficWatch, feedStartedAt: number): number {
  return Math.max(new Date(watch.metadata?.creationTimestamp ?? 0).getTime(), feedStartedAt);
}

/** What becomes of the Deployment in this reconcile. */
export type DeploymentDecision =
  | {
      readonly kind: 'Apply';
      readonly desired: V1Deployment;
      /** Whose replicas are left as they are, though the spec names others. */
      readonly contested?: ContestedReplicas;
    }
  | { readonly kind: 'Wait'; readonly untilMs: number }
  | { readonly kind: 'NotOwned'; readonly message: string }
  | { readonly kind: 'SelectorChanged'; readonly message: string };

/** The controller reference of a TrafficWatch on its Deployment, shaped as PKopel/traffic-operator wrote it. */
export function ownerReferenceOf(watch: TrafficWatch): V1OwnerReference {
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: 'TrafficWatch',
    name: watch.metadata?.name ?? '',
    uid: watch.metadata?.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** True when the object's controller is this very TrafficWatch, not one of the same name from before. */
export function isOwnedBy(deployment: V1Deployment, watch: TrafficWatch): boolean {
  const uid = watch.metadata?.uid;
  return (deployment.metadata?.ownerReferences ?? []).some((o) => o.controller === true && o.uid === uid);
}

/**
 * The Deployment as it should be: the user's spec as it is, with the node affinity added. `replicas` appears only
 * when the user set it: an autoscaler may own it otherwise.
 */
export function renderDeployment(watch: TrafficWatch, labelKey: string): V1Deployment {
  const { template, ...spec } = watch.spec.deployment;
  const affinity = withFitNodes(template.spec?.affinity, labelKey, placementOf(watch.spec));
  const podSpec = { ...template.spec, affinity };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: watch.metadata?.name,
      namespace: watch.metadata?.namespace,
      labels: MANAGED_BY,
      ownerReferences: [ownerReferenceOf(watch)],
    },
    spec: { ...spec, template: { ...template, spec: podSpec } },
  } as V1Deployment;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, v: unknown) =>
    v !== null && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(
          Object.entries(v)
            .filter(([, x]) => x !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : v,
  );
}

/** A Deployment's selector is immutable; an equal one with an empty list or map beside it still counts as equal. */
function sameSelector(a: V1Deployment, b: V1Deployment): boolean {
  const shape = (d: V1Deployment): string => {
    const { matchLabels, matchExpressions } = d.spec?.selector ?? {};
    return canonical([matchLabels ?? {}, matchExpressions ?? []]);
  };
  return shape(a) === shape(b);
}

/**
 * | Deployment there | owner       | selector | two passes with data | then            |
 * |------------------|-------------|----------|----------------------|-----------------|
 * | yes              | another     | any      | any                  | NotOwned        |
 * | yes              | this watch  | differs  | any                  | SelectorChanged |
 * | yes              | this watch  | same     | any (edits never wait) | Apply         |
 * | no               |             |          | yes                  | Apply           |
 * | no               |             |          | no, 60 s are over    | Apply           |
 * | no               |             |          | no                   | Wait            |
 *
 * @param decided whether two passes with data have been seen, now or before.
 * @param waitingSince see waitingSinceOf.
 */
export function decideDeployment(input: {
  watch: TrafficWatch;
  labelKey: string;
  live: V1Deployment | undefined;
  decided: boolean;
  waitingSince: number;
  now: number;
}): DeploymentDecision {
  const { watch, live } = input;
  const desired = renderDeployment(watch, input.labelKey);
  const name = `${watch.metadata?.namespace ?? ''}/${watch.metadata?.name ?? ''}`;
  if (live) {
    if (!isOwnedBy(live, watch)) {
      return {
        kind: 'NotOwned',
        message: `Deployment ${name} exists and does not belong to this TrafficWatch; it is left alone`,
      };
    }
    if (!sameSelector(live, desired)) {
      return {
        kind: 'SelectorChanged',
        message: `spec.deployment.selector differs from that of Deployment ${name}, which cannot be changed; restore it, or delete the Deployment to have it made anew`,
      };
    }
    const contested = contestedReplicas(watch.spec.deployment.replicas, live);
    if (contested) return { kind: 'Apply', desired: withoutReplicas(desired, contested), contested };
    return { kind: 'Apply', desired };
  }
  const untilMs = input.waitingSince + WAIT_FOR_DATA_MS;
  return input.decided || input.now >= untilMs ? { kind: 'Apply', desired } : { kind: 'Wait', untilMs };
}
