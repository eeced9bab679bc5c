import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import type { ComponentState } from '../../../../api/trafficstack/terms.ts';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import { IN_PROGRESS_REASONS } from '../../../../api/trafficweight/reasons.ts';
import { metaTime } from '../../../../runtime/controller/conditions.ts';
import type { Requery, Observation, ObservedComponent } from '../../model/observation.ts';
import { workloadsOf } from '../../render/kinds.ts';
import { unmetAnswer } from '../presentState.ts';
import { readinessOf } from '../readiness.ts';
import type { Blocker, Waiting } from '../waiting.ts';
import { gateAnswer } from './freshness.ts';
import { holdForWave, isBeingChanged, type Waves } from './waves.ts';

/** States of a component whose change is in progress or has failed. */
const BEGUN: ReadonlySet<ComponentState> = new Set(['Progressing', 'Unknown', 'Failed']);

/** The surroundings of a component that is to be changed. */
export interface ChangeSurroundings extends Pick<Observation, 'gate' | 'left' | 'seen' | 'now'> {
  readonly waves: Waves;
  /** The dependencies and the components of earlier waves, as decided, by name. */
  readonly before: ReadonlyMap<string, Blocker>;
  readonly prior: ComponentStatus | undefined;
}

/**
 * Returns what holds the change of a component with ready dependencies: its wave has not come, or the gate is closed. Undefined if nothing holds it.
 *
 * | its objects                                    | held |
 * |------------------------------------------------|------|
 * | one exists and differs from the spec           | yes  |
 * | the same, of an unchanged spec, as after another number of nodes | only at the gate |
 * | some are missing, an older workload of it exists, as after a new name | yes |
 * | some are missing: it is new, or one was deleted | no |
 */
export function holdChange(
  component: Pick<ObservedComponent, 'spec' | 'objects' | 'revision'>,
  around: ChangeSurroundings,
): (Waiting & { readonly requery?: Requery }) | undefined {
  const { spec, objects } = component;
  const isChange = objects.some(({ live, isCurrent }) => live !== undefined && !isCurrent);
  const isReplaced = workloadsOf(around.left).some(({ component: of }) => of === spec.name);
  if (!isChange && !isReplaced) return undefined;
  const { prior } = around;
  // Of the same spec: another number of nodes, for example, is no part of an upgrade.
  const isSame = prior?.revision === component.revision && !isBeingChanged(prior);
  return (isSame ? undefined : holdForWave(spec.name, around)) ?? holdAtGate(component, around);
}

/**
 * Returns whether the objects belong to a change that began and was never ready, as far as is known.
 *
 * | it was before                                        | its pods      | never ready |
 * |------------------------------------------------------|---------------|-----|
 * | Ready, Degraded, or ready with that spec             | any           | no  |
 * | Waiting, after a revision was applied and never ready: see unreadyOf | any | yes |
 * | Waiting otherwise                                    | any           | no  |
 * | Failed, since an object is another owner's, or rolled back | any     | no  |
 * | a TrafficWeight on its way                           |               | no  |
 * | Progressing, Unknown or Failed otherwise             | not available | yes |
 * | the same, and `ready` was not true                   | available     | yes |
 * | the same otherwise: its change may not be written    | available     | no  |
 */
export function wasNeverReady(
  { spec, objects }: Pick<ObservedComponent, 'spec' | 'objects'>,
  prior: ComponentStatus | undefined,
): boolean {
  if (prior === undefined) return false;
  if (prior.state === 'Waiting') return prior.unreadyRevision !== undefined && isUnready({ spec, objects });
  if (!BEGUN.has(prior.state)) return false;
  const { state, reason, readyRevision, rolledBackFrom } = prior;
  if (readyRevision !== undefined || rolledBackFrom !== undefined) return false;
  if (reason === Reason.ForeignObject || IN_PROGRESS_REASONS.has(reason)) return false;
  const areAvailable = areAllAvailable(objects);
  return (
    !areAvailable ||
    reason === Reason.NotReadyYet ||
    (state === 'Failed' && (spec.ready !== undefined || spec.type === 'Objects'))
  );
}

function areAllAvailable(objects: ObservedComponent['objects']): boolean {
  return workloadsOf(objects).every(({ live }) => live !== undefined && readinessOf(live).phase === 'Ready');
}

/** Returns whether pods are unavailable, or only `ready` can tell. */
function isUnready({ spec, objects }: Pick<ObservedComponent, 'spec' | 'objects'>): boolean {
  return spec.ready !== undefined || !areAllAvailable(objects);
}

/**
 * Returns the revision that was applied last, if the component was never ready with it.
 *
 * | it is                                          | it was before                 | the unready revision |
 * |------------------------------------------------|-------------------------------|-----------|
 * | ready with this revision, or External          | any                           | none      |
 * | restored, or being restored                    | any                           | none      |
 * | Waiting, or an object is another owner's       | not ready, and is not by now  | as before |
 * | the same                                       | anything else                 | none      |
 * | Progressing, Unknown or Failed otherwise       | ready with this revision      | none      |
 * | the same                                       | anything else                 | this one  |
 */
export function unreadyOf(
  { state, reason, mode, readyRevision }: Pick<ComponentStatus, 'state' | 'reason' | 'mode' | 'readyRevision'>,
  component: Pick<ObservedComponent, 'spec' | 'objects' | 'revision' | 'rolledBackFrom'>,
  prior: ComponentStatus | undefined,
): Pick<ComponentStatus, 'unreadyRevision'> {
  if (readyRevision !== undefined || mode !== undefined || component.rolledBackFrom !== undefined) return {};
  const { revision } = component;
  if (BEGUN.has(state) && reason !== Reason.ForeignObject) {
    const wasReady = prior?.readyRevision === revision || prior?.lastReadyRevision === revision;
    return wasReady ? {} : { unreadyRevision: revision };
  }
  const before = prior?.unreadyRevision;
  return before === undefined || !isUnready(component) ? {} : { unreadyRevision: before };
}

const FIELD = 'upgrade.query';

/**
 * Returns what holds a change at the gate of upgrades. Undefined if there is no gate, or its query is true. Without an answer the gate is closed. An
 * answer counts only if its query was sent after the wave before: see freshness.ts.
 */
function holdAtGate(
  { spec: { name } }: Pick<ObservedComponent, 'spec'>,
  around: Pick<Observation, 'gate' | 'seen' | 'now'> & {
    readonly before: ReadonlyMap<string, Blocker>;
    readonly prior: ComponentStatus | undefined;
  },
): (Waiting & { readonly requery?: Requery }) | undefined {
  const { gate, prior, now } = around;
  if (gate === undefined) return undefined;
  const answer = gateAnswer(gate.answer, name, around);
  const unmet = unmetAnswer({ query: gate.query, answer }, FIELD, false);
  if (unmet === undefined) return undefined;
  const { message: observed, requery } = unmet;
  const before = prior?.waitingOn;
  const since = before?.component === name && before.what === FIELD ? before.since : metaTime(now);
  return {
    ...{ state: 'Waiting', reason: Reason.WaitingForGate, message: `waits to be changed: ${observed}` },
    waitingOn: { component: name, what: FIELD, observed, since },
    ...(requery && { requery }),
  };
}
