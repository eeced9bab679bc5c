import { describe, expect, it } from 'vitest';
import type { TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { findCondition } from '../../../../runtime/controller/conditions.ts';
import type { ForeignWorkload, Observation, Target } from '../../observe/observation.ts';
import { aForeignWatch, anObservation, aWorkload, KEY, type WatchChanges } from '../../testing/observations.ts';
import { decidePlan } from '../decidePlan.ts';
import { decideStatus } from '../report/status.ts';

const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
const selector = { matchLabels: { app: 'db' } };
const last = { matchLabels: { app: 'last' } };
const WEBHOOK: ForeignWorkload['policy'] = { reason: 'WebhookInstalled', message: '' };
const INSTALLED: ForeignWorkload['policy'] = { reason: 'PolicyInstalled', message: '' };
const MISSING: ForeignWorkload['policy'] = { reason: 'PolicyMissing', message: 'no policy' };
const unknown = (
  reason: 'TargetNotFound' | 'TargetUnreadable' | 'TargetWithoutPods' | 'TargetKindUnknown',
): Target => ({
  reason,
  message: `StatefulSet shop/db: ${reason}`,
});

function observed(target: Target, changes: WatchChanges = {}, over: Partial<ForeignWorkload> = {}): Observation {
  const watch = aForeignWatch({ targetRef }, changes);
  return anObservation({ watch, workload: aWorkload(watch, selector, { target, ...over }) });
}

function statusOf(o: Observation): TrafficWatchStatus {
  return decideStatus(o, decidePlan(o), []);
}

describe('a TrafficWatch with targetRef', () => {
  it('labels nodes, writes no Deployment, and says which pods the policy selects', () => {
    const o = observed({ selector });
    const plan = decidePlan(o);
    expect(plan.deployment).toBeUndefined();
    expect([...plan.labels.keys()].sort()).toEqual(['n1', 'n2']);
    expect(statusOf(o)).toMatchObject({ ready: true, labelKey: KEY, podSelector: selector });
  });

  const other = { ...targetRef, name: 'other' };
  it.each<[string, Target, object | undefined, object | undefined]>([
    ['keeps the last selector of a target that is gone', unknown('TargetNotFound'), targetRef, last],
    ['keeps the last selector of a target that cannot be read', unknown('TargetUnreadable'), targetRef, last],
    ['has none of another target', unknown('TargetNotFound'), other, undefined],
    ['has none of pods that were selected without a target', unknown('TargetNotFound'), undefined, undefined],
    ['has none of a target without pods', unknown('TargetWithoutPods'), targetRef, undefined],
    ['has none of an unknown kind', unknown('TargetKindUnknown'), targetRef, undefined],
    [
      'has the selector of a Job before it exists',
      { ...unknown('TargetNotFound'), expected: selector } as Target,
      other,
      selector,
    ],
  ])('%s, whatever else of the spec has changed', (_what, target, before, podSelector) => {
    const status = { observedGeneration: 1, podSelector: last, target: before as typeof targetRef };
    const after = statusOf(observed(target, { status, metadata: { generation: 2 } }));
    expect([after.podSelector, after.target]).toEqual([podSelector, podSelector && targetRef]);
  });

  it('labels under both keys in a rename, and tells the policy of the new one when every node has it', () => {
    const OLD = 'old.traffic.example.com/unfit';
    const watch = aForeignWatch({ targetRef }, { status: { labelKey: OLD, decided: true } });
    const workload = aWorkload(watch, selector, { target: { selector } });
    const renamed = (nodes: Record<string, Record<string, string>>) => anObservation({ watch, workload, nodes });
    const before = renamed({ n1: { [OLD]: 'true', [KEY]: 'false' }, n2: { [OLD]: 'false' } });
    expect(decidePlan(before)).toMatchObject({ labelKey: OLD, renaming: true });
    // The old label follows the verdict as long as new pods go by it.
    expect(Object.fromEntries(decidePlan(before).labels)).toEqual({ n1: { [OLD]: 'false' }, n2: { [KEY]: 'false' } });
    const after = renamed({ n1: { [OLD]: 'false', [KEY]: 'false' }, n2: { [OLD]: 'false', [KEY]: 'false' } });
    expect(decidePlan(after).labelKey).toBe(KEY);
    expect(decidePlan(after).labels.size).toBe(0);
  });

  it('reports that the target is missing, and is Ready: nodes are labelled', () => {
    const { conditions = [], ready } = statusOf(observed(unknown('TargetNotFound')));
    expect(findCondition(conditions, 'TargetFound')).toMatchObject({ status: 'False', reason: 'TargetNotFound' });
    expect(ready).toBe(true);
  });

  it('with mode Observe has no label key, so that the policy changes no pod', () => {
    const status = statusOf(observed({ selector }, { mode: 'Observe' }));
    expect(status).not.toHaveProperty('labelKey');
    expect(status).toMatchObject({ podSelector: selector, plan: { nodesToLabel: 2, deployment: 'None' } });
  });
});

describe('the condition InjectionUnavailable', () => {
  const conditionOf = (o: Observation) => findCondition(statusOf(o).conditions ?? [], 'InjectionUnavailable');

  it('is False with the policy', () => {
    expect(conditionOf(observed({ selector }))).toMatchObject({ status: 'False', reason: 'PolicyInstalled' });
  });

  it.each<[WatchChanges, string]>([
    [{}, `{"weight":100,"preference":{"matchExpressions":[{"key":"${KEY}"`],
    [
      { placement: 'Required' },
      'every entry of requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms must have {"matchExpressions"',
    ],
    [
      { placement: 'AtCreation' },
      'or add the term of Preferred, since names of nodes grow old, by hand to the pod template: in spec.affinity.nodeAffinity, preferred',
    ],
  ])('says how to add the term by hand: %j', (changes, text) => {
    const found = conditionOf(observed({ selector }, changes, { policy: MISSING }));
    expect(found).toMatchObject({ status: 'True', reason: 'PolicyMissing' });
    expect(found?.message).toContain(text);
  });

  it('is True with an older policy, which reads no PodPlacement', () => {
    const found = conditionOf(observed({ selector }, {}, { policy: { ...INSTALLED, isOutdated: true } }));
    expect(found).toMatchObject({ status: 'True', reason: 'PolicyOutdated' });
  });

  const NOT_WRITTEN = { reason: 'Forbidden', message: 'no' };
  const refused = { entry: undefined, problem: { ...NOT_WRITTEN, isRefused: true as const } };
  const entry = { trafficWatch: 'web', labelKey: KEY, placement: 'Preferred' as const, podSelector: selector };
  it.each<[string, ForeignWorkload['placed'], string, string]>([
    ['an entry', { entry }, 'False', 'PolicyInstalled'],
    ['an entry whose nodes are older', { entry: { ...entry, avoidedNodes: ['n9'] } }, 'False', 'PolicyInstalled'],
    ['no entry', { entry: undefined }, 'Unknown', 'PlacementPending'],
    ['an entry for other pods', { entry: { ...entry, podSelector: last } }, 'Unknown', 'PlacementPending'],
    ['an entry of another placement', { entry: { ...entry, placement: 'Required' } }, 'Unknown', 'PlacementPending'],
    ['an entry of another label', { entry: { ...entry, labelKey: `x.${KEY}` } }, 'Unknown', 'PlacementPending'],
    ['no room', { entry: undefined, isOmitted: true }, 'True', 'PlacementFull'],
    ['an object that cannot be written', { entry, problem: NOT_WRITTEN }, 'True', 'PlacementNotWritten'],
  ])('with a PodPlacement that has %s', (_what, placed, status, reason) => {
    expect(conditionOf(observed({ selector }, {}, { placed }))).toMatchObject({ status, reason });
  });

  it.each<[string, string, Partial<ForeignWorkload>]>([
    ['False', 'a quota or an admission webhook refuses the PodPlacement', { placed: refused }],
    ['False', 'the same, and the webhook would use it', { placed: refused, policy: WEBHOOK }],
    ['True', 'no policy uses it', { placed: refused, policy: MISSING }],
    ['True', 'the API server does not answer', { placed: { entry, problem: NOT_WRITTEN } }],
  ])('leaves Ready %s if %s', (status, _why, over) => {
    const ready = findCondition(statusOf(observed({ selector }, {}, over)).conditions, 'Ready');
    expect(ready?.status).toBe(status);
    if (status === 'False') expect(ready).toMatchObject({ reason: 'PlacementNotWritten' });
  });

  it('asks for no entry with mode Observe', () => {
    const found = conditionOf(observed({ selector }, { mode: 'Observe' }, { placed: { entry: undefined } }));
    expect(found).toMatchObject({ status: 'False', reason: 'PolicyInstalled' });
  });

  it.each<[ForeignWorkload['policy']['reason'], string, string]>([
    ['PolicyUnreadable', 'Unknown', 'why'],
    ['PlacementPending', 'Unknown', 'why'],
    ['WebhookNotReady', 'True', 'why; until then pods run on any node; or add it by hand'],
    ['WebhookInstalled', 'False', 'an admission webhook adds the node affinity to new pods'],
    ['PolicyInstalled', 'False', 'an admission policy adds the node affinity to new pods'],
  ])('is, with %s, %s: %s', (reason, status, text) => {
    const found = conditionOf(observed({ selector }, {}, { policy: { reason, message: 'why' } }));
    expect(found).toMatchObject({ status, reason });
    expect(found?.message).toContain(text);
  });

  it('waits for the PodPlacement with the webhook as with the policy', () => {
    const over = { policy: { reason: 'WebhookInstalled' as const, message: '' }, placed: { entry: undefined } };
    expect(conditionOf(observed({ selector }, {}, over))).toMatchObject({ reason: 'PlacementPending' });
  });

  it('is absent with a Deployment; TargetFound goes with the targetRef', () => {
    const conditions = statusOf(observed({ selector })).conditions ?? [];
    expect(findCondition(statusOf(anObservation()).conditions ?? [], 'InjectionUnavailable')).toBeUndefined();
    const watch = aForeignWatch({ podSelector: selector }, { status: { conditions } });
    const byPods = anObservation({ watch, workload: aWorkload(watch, selector) });
    expect(findCondition(statusOf(byPods).conditions ?? [], 'TargetFound')).toBeUndefined();
    expect(statusOf(byPods).podSelector).toEqual(selector);
  });
});
