import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import type { ObservedComponent } from '../../model/observation.ts';
import { waitFor, type Blocker, type Waiting } from '../waiting.ts';

/** The wave of each component by name. A component without dependencies has wave 0. */
export type Waves = ReadonlyMap<string, number>;

/**
 * Returns the waves of a stack: a component comes one wave after the last of its dependencies.
 *
 * @param components each after those that it depends on
 */
export function wavesOf(components: readonly Pick<ObservedComponent, 'spec'>[]): Waves {
  const waves = new Map<string, number>();
  for (const { spec } of components) {
    const needed = (spec.dependsOn ?? []).map((name) => waves.get(name) ?? -1);
    waves.set(spec.name, Math.max(-1, ...needed) + 1);
  }
  return waves;
}

/**
 * Returns what keeps a change until its wave: a component of an earlier wave whose change has not ended or has failed, also if it is not a
 * dependency.
 *
 * @param before decided components by name: at least all of earlier waves
 */
export function holdForWave(
  name: string,
  { waves, before }: { readonly waves: Waves; readonly before: ReadonlyMap<string, Blocker> },
): Waiting | undefined {
  const own = waves.get(name) ?? 0;
  const earlier = [...before.values()].filter(({ status }) => (waves.get(status.name) ?? own) < own);
  const unended = earlier.filter(({ status }) => isBeingChanged(status));
  return waitForWave(
    unended.map(({ status }) => status.name),
    before,
  );
}

/** Returns whether a change of the spec has not ended or has failed. Another number of nodes is not such a change. */
export function isBeingChanged({
  revision,
  lastReadyRevision,
  rolledBackFrom,
}: Pick<ComponentStatus, 'revision' | 'lastReadyRevision' | 'rolledBackFrom'>): boolean {
  if (lastReadyRevision === undefined) return false;
  return rolledBackFrom !== undefined || lastReadyRevision !== revision;
}

/** Returns the state of a change that waits for earlier waves. Undefined if they are ready. */
export function waitForWave(names: readonly string[], before: ReadonlyMap<string, Blocker>): Waiting | undefined {
  const waiting = waitFor(names, before);
  if (waiting?.waitingOn === undefined) return undefined;
  const { component, observed } = waiting.waitingOn;
  const hasFailed = names.some((each) => before.get(each)?.status.state === 'Failed');
  return hasFailed
    ? {
        ...waiting,
        reason: Reason.UpgradeStopped,
        message: `is not changed: the upgrade stopped at ${component}: ${observed}`,
      }
    : { ...waiting, reason: Reason.WaitingForWave, message: `waits to be changed after ${component}: ${observed}` };
}

/**
 * Returns the revision with which a component was last ready, and the revision with which it was ready before that.
 *
 * | it is                             | it was before                         | last ready revision |
 * |-----------------------------------|---------------------------------------|---------------------|
 * | ready with this revision          | any                                   | none: readyRevision says so |
 * | not written, since it is External | any                                   | none                |
 * | anything else                     | ready with any revision, also with this one | that one      |
 * | anything else                     | not ready                             | as before           |
 */
export function lastReadyOf(
  { mode, readyRevision }: Pick<ComponentStatus, 'mode' | 'readyRevision'>,
  prior: ComponentStatus | undefined,
): Pick<ComponentStatus, 'lastReadyRevision' | 'earlierReadyRevision'> {
  if (mode !== undefined) return {};
  const last = prior?.readyRevision ?? prior?.lastReadyRevision;
  const before = readyRevision !== undefined && last !== readyRevision ? last : prior?.earlierReadyRevision;
  const earlier = before === undefined ? {} : { earlierReadyRevision: before };
  return readyRevision !== undefined || last === undefined ? earlier : { lastReadyRevision: last, ...earlier };
}
