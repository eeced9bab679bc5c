import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import { planSet, type Observation, type Observed, type Plan } from '../../../runtime/objectSet/plan.ts';
import { defaultMeasurementOptions } from '../options.ts';
import type { ComponentGroup } from './component.ts';
import { switchedOff } from '../model/stackGroups.ts';
import { measurementSet } from './components.ts';

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

/** All objects exist and are ours, with these exceptions. */
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
    why: 'an empty cluster: everything is created, the namespace first',
    components: cluster({}, NOTHING),
    apply: [...EXPORTER, ...PROMETHEUS],
  },
  { why: 'existing objects of ours are applied again, which only compares', apply: [...EXPORTER, ...PROMETHEUS] },
  {
    why: 'a foreign object is not touched, and the rest is applied',
    components: cluster({ [PROMETHEUS_SERVICE]: foreign }),
    apply: [...EXPORTER, PROMETHEUS_ACCOUNT, CONFIG, DEPLOYMENT],
    problems: [`ForeignObject ${PROMETHEUS_SERVICE}`],
  },
  {
    why: 'an object whose labels somebody removed is still ours',
    components: cluster({ [DAEMON_SET]: unlabelled }),
    apply: [...EXPORTER, ...PROMETHEUS],
  },
  {
    why: 'an object with a controller belongs to that controller, whatever its labels',
    components: cluster({ [DEPLOYMENT]: controlled }),
    apply: [...EXPORTER, PROMETHEUS_ACCOUNT, CONFIG, PROMETHEUS_SERVICE],
    problems: [`ForeignObject ${DEPLOYMENT}`],
  },
  {
    why: 'nothing can be created in a namespace that is being deleted; Prometheus does not depend on it',
    components: cluster({ [NAMESPACE]: leaving }),
    apply: PROMETHEUS,
    waiting: true,
  },
  {
    why: 'an object that is being deleted is created again afterwards',
    components: cluster({ [DEPLOYMENT]: leaving }),
    apply: [...EXPORTER, PROMETHEUS_ACCOUNT, CONFIG, PROMETHEUS_SERVICE],
    waiting: true,
  },
  {
    why: 'a namespace that an administrator created before is used and not changed',
    components: cluster({ [NAMESPACE]: foreign }),
    apply: [EXPORTER_ACCOUNT, EXPORTER_SERVICE, DAEMON_SET, ...PROMETHEUS],
    problems: [`ForeignObject ${NAMESPACE}`],
  },
  {
    why: 'disabled: all objects of ours are removed, the namespace after its objects',
    enabled: NEITHER,
    apply: [],
    remove: [...EXPORTER, ...PROMETHEUS].reverse(),
  },
  {
    why: 'disabled: nothing to do in an empty cluster',
    enabled: NEITHER,
    components: cluster({}, NOTHING),
    apply: [],
  },
  {
    why: 'disabled: an object that is being deleted is not deleted again',
    enabled: NEITHER,
    components: cluster({}, leaving),
    apply: [],
  },
  {
    why: 'disabled: foreign objects stay',
    enabled: NEITHER,
    components: cluster({}, foreign),
    apply: [],
  },
  {
    why: 'node-exporter can stay enabled for an existing Prometheus',
    enabled: { exporter: true, prometheus: false },
    apply: EXPORTER,
    remove: [...PROMETHEUS].reverse(),
  },
  {
    why: 'a namespace with a foreign pod stays, because its deletion would delete the pod',
    enabled: { exporter: false, prometheus: true },
    strangers: ['op-node-exporter/debug'],
    apply: PROMETHEUS,
    remove: [DAEMON_SET, EXPORTER_SERVICE, EXPORTER_ACCOUNT],
    problems: [`NamespaceKept ${NAMESPACE}`],
  },
  {
    why: 'a namespace with a foreign object under one of our names stays',
    enabled: { exporter: false, prometheus: true },
    components: cluster({ [EXPORTER_SERVICE]: foreign }),
    apply: PROMETHEUS,
    remove: [DAEMON_SET, EXPORTER_ACCOUNT],
    problems: [`NamespaceKept ${NAMESPACE}`],
  },
  {
    why: 'a group that is not fully known is not applied: the cluster may have newer objects',
    unknown: ['exporter', 'exporterNamespace'],
    apply: PROMETHEUS,
  },
  {
    why: 'a group that is not fully known is not removed',
    enabled: { exporter: false, prometheus: true },
    unknown: ['exporter', 'exporterNamespace'],
    apply: PROMETHEUS,
  },
  {
    why: 'the namespace of an exporter that a stack keeps is applied, and the exporter is not',
    unknown: ['exporter'],
    apply: [NAMESPACE, ...PROMETHEUS],
  },
  {
    why: 'the namespace of an exporter that a stack removes stays until that is done',
    enabled: NEITHER,
    unknown: ['exporter'],
    apply: [],
    remove: [...PROMETHEUS].reverse(),
  },
];

describe('the plan for the measurement set', () => {
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
