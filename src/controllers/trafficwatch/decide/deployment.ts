import type { V1Deployment, V1DeploymentSpec, V1OwnerReference } from '@kubernetes/client-node';
import { placementOf } from '../../../api/trafficwatch/spec/placement.ts';
import { GROUP } from '../../../api/group.ts';
import { VERSION, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { isEqual } from '../../../runtime/apply/mergePatch.ts';
import { OWNER } from '../../contract/labels.ts';
import { withFitNodes } from '../model/affinity.ts';
import { decideReplicas, type ContestedReplicas } from '../model/replicas.ts';

/** How long a Deployment waits for monitoring data before it is created without: ms. */
export const WAIT_FOR_DATA_MS = 60_000;

/**
 * When the wait for data begins: at the creation of the TrafficWatch or the start of the feed, whichever is later. Ms
 * since the epoch.
 */
export function waitingSinceOf(watch: TrafficWatch, feedStartedAt: number): number {
  return Math.max(new Date(watch.metadata?.creationTimestamp ?? 0).getTime(), feedStartedAt);
}

/** A TrafficWatch with a Deployment of its own. */
export type WithDeployment = TrafficWatch & { readonly spec: { readonly deployment: V1DeploymentSpec } };

/** Whether the operator creates a Deployment for the TrafficWatch. */
export function hasDeployment(watch: TrafficWatch): watch is WithDeployment {
  return watch.spec.deployment !== undefined;
}

/** The decision of this reconcile about the Deployment. */
export type DeploymentDecision =
  | {
      readonly kind: 'Apply';
      readonly desired: V1Deployment;
      /** Set if an autoscaler keeps setting the replicas: they are unchanged, although the spec names a count. */
      readonly contested?: ContestedReplicas;
    }
  | { readonly kind: 'Wait'; readonly untilMs: number }
  | { readonly kind: 'NotOwned'; readonly message: string }
  | { readonly kind: 'SelectorChanged'; readonly message: string };

/** The owner reference of a TrafficWatch on its Deployment, in the shape that PKopel/traffic-operator wrote. */
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

/**
 * True if this TrafficWatch is the controller of the Deployment. Compares UIDs, so that an earlier TrafficWatch of the
 * same name does not count.
 */
export function isOwnedBy(deployment: V1Deployment, watch: TrafficWatch): boolean {
  const uid = watch.metadata?.uid;
  return (deployment.metadata?.ownerReferences ?? []).some((o) => o.controller === true && o.uid === uid);
}

/**
 * The desired Deployment: the user's spec with the node affinity added. `replicas` is set only if the user set it,
 * because an autoscaler may own it otherwise.
 */
export function renderDeployment(watch: WithDeployment, labelKey: string): V1Deployment {
  const { template, ...spec } = watch.spec.deployment;
  const affinity = withFitNodes(template.spec?.affinity, labelKey, placementOf(watch.spec));
  const podSpec = { ...template.spec, affinity };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: watch.metadata?.name,
      namespace: watch.metadata?.namespace,
      labels: OWNER.labels,
      ownerReferences: [ownerReferenceOf(watch)],
    },
    spec: { ...spec, template: { ...template, spec: podSpec } },
  } as V1Deployment;
}

/** Compares selectors, which are immutable. A missing list or map equals an empty one. */
function sameSelector(a: V1Deployment, b: V1Deployment): boolean {
  const shape = (d: V1Deployment): unknown => {
    const { matchLabels, matchExpressions } = d.spec?.selector ?? {};
    return [matchLabels ?? {}, matchExpressions ?? []];
  };
  return isEqual(shape(a), shape(b));
}

/**
 * Decides what to do with the Deployment.
 *
 * | live Deployment  | owner       | selector | two passes with data | decision        |
 * |------------------|-------------|----------|----------------------|-----------------|
 * | yes              | another     | any      | any                  | NotOwned        |
 * | yes              | this watch  | differs  | any                  | SelectorChanged |
 * | yes              | this watch  | same     | any (edits never wait) | Apply         |
 * | no               |             |          | yes                  | Apply           |
 * | no               |             |          | no, 60 s have passed | Apply           |
 * | no               |             |          | no                   | Wait            |
 *
 * Without `spec.deployment` there is nothing to decide: undefined.
 *
 * @param input.decided whether there have been two passes in a row with data, now or earlier
 * @param input.waitingSince see waitingSinceOf
 */
export function decideDeployment(input: {
  watch: TrafficWatch;
  labelKey: string;
  live: V1Deployment | undefined;
  decided: boolean;
  waitingSince: number;
  now: number;
}): DeploymentDecision | undefined {
  const { watch, live } = input;
  if (!hasDeployment(watch)) return undefined;
  const desired = renderDeployment(watch, input.labelKey);
  const name = `${watch.metadata?.namespace ?? ''}/${watch.metadata?.name ?? ''}`;
  if (live) {
    if (!isOwnedBy(live, watch)) {
      return {
        kind: 'NotOwned',
        message: `Deployment ${name} exists and belongs to another owner; use spec.targetRef to steer it, or rename one of them`,
      };
    }
    if (!sameSelector(live, desired)) {
      return {
        kind: 'SelectorChanged',
        message: `spec.deployment.selector differs from the selector of Deployment ${name}, which cannot be changed; restore the selector, or delete the Deployment so that it is created again`,
      };
    }
    return { kind: 'Apply', ...decideReplicas(desired, live, input.now) };
  }
  const untilMs = input.waitingSince + WAIT_FOR_DATA_MS;
  return input.decided || input.now >= untilMs ? { kind: 'Apply', desired } : { kind: 'Wait', untilMs };
}
