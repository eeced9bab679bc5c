import { expect, it } from 'vitest';
import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import { APPLIED_HASH_ANNOTATION, appliedHash } from '../../../runtime/apply/difference.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { ObservedComponent } from '../model/observation.ts';
import { answered, at, component, live, NOW, observed, REVISION, seenSince, stackOf } from '../testing/stacks.ts';
import { planComponent } from './component.ts';

const WEB = component('web', { dependsOn: ['db'] });
const status = (name: string, over: Partial<ComponentStatus> = {}): ComponentStatus => ({
  ...{ name, type: 'Workload', state: 'Ready', reason: 'X', message: 'm', since: at(-10), replicas: 2 },
  ...{ revision: REVISION, readyRevision: REVISION },
  ...over,
});
/** States of a dependency. */
const STARTS = { state: 'Progressing', reason: 'RollingOut', readyRevision: undefined } as const;
const FAULTY = { state: 'Degraded', reason: 'CrashLoopBackOff' } as const;
const RESTORED = { state: 'Failed', reason: 'RolledBack', readyRevision: undefined } as const;
/** The component before: ready with another spec, or never ready with that. */
const OTHER = { revision: 'r0', readyRevision: 'r0' };
const BROKEN = { ...OTHER, state: 'Failed', reason: 'DeadlineExceeded', readyRevision: undefined } as const;

const GONE = observed(WEB, 'none');
const CHANGED = observed(WEB, 'old');
const UNREADY = withLive((object) => live(object, 1));
/** Web as its last change left it, but for the number of its pods, of which two are asked for now. */
const scaled = (replicas: number): ObservedComponent =>
  withLive((object) => {
    const asked = { ...object, spec: { ...(object as { spec: object }).spec, replicas } } as KubeObject;
    const annotations = { [APPLIED_HASH_ANNOTATION]: appliedHash(asked) };
    return live({ ...asked, metadata: { ...asked.metadata, annotations } }, 2);
  });

function withLive(change: (object: KubeObject) => KubeObject): ObservedComponent {
  const objects = CHANGED.objects.map((each) => ({ ...each, live: change(each.object) }));
  return { ...CHANGED, objects };
}

/** The decision about web, at a closed gate. */
function decide(web: ObservedComponent, prior: Partial<ComponentStatus> | undefined, db: Partial<ComponentStatus>) {
  const components = prior === undefined ? [] : [status('web', prior)];
  const { status: decided, apply } = planComponent(web, {
    stack: stackOf([WEB], { components }),
    before: new Map([['db', { status: status('db', db), what: 'StatefulSet shop/db' }]]),
    gate: { query: 'up == 1', answer: answered({ is: 'False', message: 'gives 0' }) },
    ...{ left: [], waves: new Map(), seen: seenSince(0, 'db'), now: NOW },
  });
  return apply.length > 0 ? 'applied' : decided.reason;
}

interface Case {
  readonly why: string;
  readonly web: ObservedComponent;
  readonly prior?: Partial<ComponentStatus>;
  readonly db?: Partial<ComponentStatus>;
  readonly is: string;
}
const WAITS = 'WaitingForDependencies';
const GATE = 'WaitingForGate';
const CASES: readonly Case[] = [
  { why: 'a new component waits for a dependency that starts', web: GONE, db: STARTS, is: WAITS },
  { why: 'a new component waits for a dependency with a fault', web: GONE, db: FAULTY, is: WAITS },
  { why: 'a new component starts next to a restored dependency', web: GONE, db: RESTORED, is: 'applied' },
  { why: 'a deleted workload is made again at once', web: GONE, prior: {}, db: FAULTY, is: 'applied' },
  { why: 'also while the dependency is changed', web: GONE, prior: {}, db: STARTS, is: 'applied' },
  {
    why: 'also after a write of it failed',
    web: GONE,
    prior: { state: 'Progressing', reason: 'Applying', readyRevision: undefined, lastReadyRevision: REVISION },
    db: FAULTY,
    is: 'applied',
  },
  { why: 'but not with another spec', web: GONE, prior: OTHER, db: FAULTY, is: WAITS },
  { why: 'a correction waits for nothing', web: UNREADY, prior: BROKEN, db: STARTS, is: 'applied' },
  {
    why: 'a return to the spec before waits for nothing',
    web: CHANGED,
    prior: { ...OTHER, earlierReadyRevision: REVISION },
    db: STARTS,
    is: 'applied',
  },
  { why: 'fewer pods wait for nothing', web: scaled(5), prior: OTHER, db: STARTS, is: 'applied' },
  { why: 'more pods wait for a dependency that is changed', web: scaled(1), prior: OTHER, db: STARTS, is: WAITS },
  { why: 'a change waits for a dependency that is changed', web: CHANGED, prior: OTHER, db: STARTS, is: WAITS },
  {
    why: 'a change does not wait for a dependency with a fault, but at the gate',
    web: CHANGED,
    prior: OTHER,
    db: FAULTY,
    is: GATE,
  },
  { why: 'the same spec that renders differently waits at the gate', web: CHANGED, prior: {}, db: FAULTY, is: GATE },
];

it.each(CASES)('$why', ({ web, prior, db = {}, is }) => expect(decide(web, prior, db)).toBe(is));

it('the revision before the ready one is remembered until a later revision is ready', () => {
  const web = (revision: string, available: number): ObservedComponent => ({
    ...observed(WEB, { available }),
    revision,
  });
  const after = (prior: Partial<ComponentStatus>, now: ObservedComponent) => {
    const { status: decided } = planComponent(now, {
      stack: stackOf([WEB], { components: [status('web', prior)] }),
      ...{ before: new Map(), left: [], waves: new Map(), now: NOW },
    });
    return [decided.readyRevision, decided.lastReadyRevision, decided.earlierReadyRevision];
  };
  expect(after(OTHER, web('r1', 2))).toEqual(['r1', undefined, 'r0']);
  expect(after({ earlierReadyRevision: 'r0' }, web('r1', 2))).toEqual(['r1', undefined, 'r0']);
  expect(after({ earlierReadyRevision: 'r0' }, web('r2', 1))).toEqual([undefined, 'r1', 'r0']);
  const begun = { revision: 'r2', readyRevision: undefined, lastReadyRevision: 'r1', earlierReadyRevision: 'r0' };
  expect(after({ ...begun, state: 'Progressing' }, web('r2', 2))).toEqual(['r2', undefined, 'r1']);
});
