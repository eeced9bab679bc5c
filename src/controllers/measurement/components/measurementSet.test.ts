import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { idOf, type Member } from '../../../runtime/objectSet/member.ts';
import { planSet } from '../../../runtime/objectSet/plan.ts';
import type { Observation, Observed, Plan } from '../../../runtime/objectSet/plan.ts';
import { defaultMeasurementOptions } from '../options.ts';
import type { ComponentGroup } from './component.ts';
import { measurementSet, switchedOff } from './components.ts';

const OPTIONS = defaultMeasurementOptions('op');
const { owner, members: COMPONENTS } = measurementSet(OPTIONS);
const [NAMESPACE, EXPORTER_ACCOUNT, EXPORTER_SERVICE, DAEMON_SET, ...PROMETHEUS] = COMPONENTS.map(idOf) as [
  string,
  string,
  string,
  string,
  ...string[],
];
const EXPORTER = [NAMESPACE, EXPORTER_ACCOUNT, EXPORTER_SERVICE, DAEMON_SET];
const [PROMETHEUS_ACCOUNT, CONFIG, PROMETHEUS_SERVICE, DEPLOYMENT] = PROMETHEUS as [string, string, string, string];

type Live = (component: Member) => KubeObject | undefined;
type Components = Observation<ComponentGroup>['observed'];
const ours: Live = ({ object }) => object;
const leaving: Live = ({ object }) => ({
  metadata: Object.assign({}, object.metadata, { deletionTimestamp: new Date(0) }),
});
const foreign: Live = ({ object }) => ({ metadata: { name: object.metadata?.name, labels: { app: 'other' } } });
const unlabelled: Live = ({ object }) => ({
  metadata: { name: object.metadata?.name, annotations: { 'traffic.example.com/applied-hash': 'x' } },
});

const controlled: Live = ({ object }) => ({
  metadata: Object.assign({}, object.metadata, {
    annotations: { 'traffic.example.com/applied-hash': 'x' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'TrafficWatch', name: 'prometheus', uid: 'u', controller: true }],
  }),
});

/** Everything is there and ours, but for what `exceptions` says. */
function cluster(exceptions: Record<string, Live> = {}, usual: Live = ours): Components {
  return COMPONENTS.map((member) => ({
    member,
    live: (exceptions[idOf(member)] ?? usual)(member),
  }));
}

const BOTH = { exporter: true, prometheus: true };
const NEITHER = { exporter: false, prometheus: false };
const NOTHING: Live = () => undefined;

interface Row {
  why: string;
  components?: Components;
  enabled?: typeof BOTH;
  unknown?: ComponentGroup[];
  strangers?: string[];
  apply?: string[];
  remove?: string[];
  problems?: string[];
  waiting?: boolean;
}

const rows: Row[] = [
  {
    why: 'nothing is there: all is made, the namespace first',
    components: cluster({}, NOTHING),
    apply: [...EXPORTER, ...PROMETHEUS],
  },
  { why: 'what is ours is compared again and again', apply: [...EXPORTER, ...PROMETHEUS] },
  {
    why: 'what somebody else made is left alone, and the rest goes on',
    components: cluster({ [PROMETHEUS_SERVICE]: foreign }),
    apply: [...EXPORTER, PROMETHEUS_ACCOUNT, CONFIG, DEPLOYMENT],
    problems: [`ForeignObject ${PROMETHEUS_SERVICE}`],
  },
  {
    why: 'an object whose labels somebody took off is still ours',
    components: cluster({ [DAEMON_SET]: unlabelled }),
    apply: [...EXPORTER, ...PROMETHEUS],
  },
  {
    why: "an object with an owner that controls it is that owner's, whatever it looks like",
    components: cluster({ [DEPLOYMENT]: controlled }),
    apply: [...EXPORTER, PROMETHEUS_ACCOUNT, CONFIG, PROMETHEUS_SERVICE],
    problems: [`ForeignObject ${DEPLOYMENT}`],
  },
  {
    why: 'nothing can be made in a namespace that is going; Prometheus has nothing to do with it',
    components: cluster({ [NAMESPACE]: leaving }),
    apply: PROMETHEUS,
    waiting: true,
  },
  {
    why: 'what is being deleted is made again when it is gone',
    components: cluster({ [DEPLOYMENT]: leaving }),
    apply: [...EXPORTER, PROMETHEUS_ACCOUNT, CONFIG, PROMETHEUS_SERVICE],
    waiting: true,
  },
  {
    why: 'a namespace that an administrator made beforehand is used and left as it is',
    components: cluster({ [NAMESPACE]: foreign }),
    apply: [EXPORTER_ACCOUNT, EXPORTER_SERVICE, DAEMON_SET, ...PROMETHEUS],
    problems: [`ForeignObject ${NAMESPACE}`],
  },
  {
    why: 'switched off, all that is ours goes, the namespace after what is in it',
    enabled: NEITHER,
    apply: [],
    remove: [...EXPORTER, ...PROMETHEUS].reverse(),
  },
  {
    why: 'switched off, there is nothing to do where nothing is',
    enabled: NEITHER,
    components: cluster({}, NOTHING),
    apply: [],
  },
  {
    why: 'switched off, what is going already is not deleted again',
    enabled: NEITHER,
    components: cluster({}, leaving),
    apply: [],
  },
  {
    why: 'switched off, what somebody else made stays',
    enabled: NEITHER,
    components: cluster({}, foreign),
    apply: [],
  },
  {
    why: 'an exporter may be kept for a Prometheus that exists',
    enabled: { exporter: true, prometheus: false },
    apply: EXPORTER,
    remove: [...PROMETHEUS].reverse(),
  },
  {
    why: 'a namespace goes with all that is in it, so it stays while a pod in it is not ours',
    enabled: { exporter: false, prometheus: true },
    strangers: ['op-node-exporter/debug'],
    apply: PROMETHEUS,
    remove: [DAEMON_SET, EXPORTER_SERVICE, EXPORTER_ACCOUNT],
    problems: [`NamespaceKept ${NAMESPACE}`],
  },
  {
    why: 'nor does it go while one of our names in it is not ours',
    enabled: { exporter: false, prometheus: true },
    components: cluster({ [EXPORTER_SERVICE]: foreign }),
    apply: PROMETHEUS,
    remove: [DAEMON_SET, EXPORTER_ACCOUNT],
    problems: [`NamespaceKept ${NAMESPACE}`],
  },
  {
    why: 'a part of which not everything is known is not applied: what it has may be newer than what is known',
    unknown: ['exporter'],
    apply: PROMETHEUS,
  },
  {
    why: 'nor is it removed',
    enabled: { exporter: false, prometheus: true },
    unknown: ['exporter'],
    apply: PROMETHEUS,
  },
];

describe('the plan of what the operator measures with', () => {
  it.each(rows)('$why', ({ components = cluster(), enabled = BOTH, unknown = [], strangers = [], ...expected }) => {
    const options = {
      ...OPTIONS,
      exporter: { ...OPTIONS.exporter, enabled: enabled.exporter },
      prometheus: { ...OPTIONS.prometheus, enabled: enabled.prometheus },
    };
    const off = switchedOff(options);
    const plan = planSet({ owner, observed: components, off, unknown: new Set(unknown), strangers });
    expect(summary(plan)).toEqual({
      apply: expected.apply,
      remove: expected.remove ?? [],
      problems: expected.problems ?? [],
      waiting: expected.waiting ?? false,
    });
  });
});

function summary(plan: Plan): unknown {
  const names = (list: readonly Observed[]): string[] => list.map(({ member }) => idOf(member));
  return {
    apply: names(plan.apply),
    remove: names(plan.remove),
    problems: plan.problems.map(({ reason, object }) => `${reason} ${object}`),
    waiting: plan.waiting,
  };
}
