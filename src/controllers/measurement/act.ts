import type { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import { isInvalid, NotLeaderError } from '../../runtime/client/errors.ts';
import { refOfKey, keyOf } from '../../runtime/client/resource.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../runtime/client/resources.ts';
import { describeComponent } from './components/component.ts';
import type { ComponentGroup } from './components/component.ts';
import type { ObservedComponent, Plan, Problem } from './decide/plan.ts';

/** Something that could not be written. */
export interface Failure {
  readonly problem: Problem;
  readonly error: unknown;
}

/**
 * Writes what the plan says. What fails stops the rest of its part, whose objects come in the order in which they need
 * one another, and no other part.
 *
 * @throws NotLeaderError
 */
export async function carryOut(plan: Plan, tools: { applier: Applier; client: Client }): Promise<Failure[]> {
  const failures: Failure[] = [];
  const failed = new Set<ComponentGroup>();
  const steps = [
    ...plan.apply.map((each) => ({ each, run: () => apply(tools.applier, each) })),
    ...plan.remove.map((each) => ({ each, run: () => remove(tools.client, each) })),
  ];
  for (const { each, run } of steps) {
    const { group } = each.component;
    if (failed.has(group)) continue;
    try {
      await run();
    } catch (error) {
      if (error instanceof NotLeaderError) throw error;
      failed.add(group);
      failures.push({ problem: problemOf(each, error), error });
    }
  }
  return failures;
}

async function apply(applier: Applier, { component, live }: ObservedComponent): Promise<void> {
  await applier.apply(component.resource, component.object, live);
}

/** Deletes the very object that was looked at: one that took its name since then is another one's. */
export async function remove(client: Client, { component, live }: ObservedComponent): Promise<void> {
  const uid = live?.metadata?.uid;
  await client.delete(component.resource, refOfKey(keyOf(component.object)), {
    propagationPolicy: 'Background',
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  });
}

function problemOf({ component }: ObservedComponent, error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  if (component.resource.kind === PERSISTENT_VOLUME_CLAIMS.kind && isInvalid(error)) {
    return { reason: 'VolumeNotChanged', object: describeComponent(component), message: volumeAdvice(error.detail) };
  }
  return { reason: 'WriteFailed', object: describeComponent(component), message };
}

/** Of a claim, the API server lets nothing be changed but its size, and that only up. */
function volumeAdvice(detail: string): string {
  return `${detail}; a claim can only grow, where its StorageClass allows that, and keeps its StorageClass: set --prometheus-storage-size and --prometheus-storage-class as they were, or delete the claim, with all samples in it, and the operator makes it anew`;
}
