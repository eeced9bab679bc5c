import { describe, expect, it } from 'vitest';
import type { TrafficWeight, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';
import { createSelector, divide, settingsOf } from './divide.ts';

const INGRESS: Candidate = {
  source: sourceOfIngress({
    metadata: { name: 'web', namespace: 'shop' },
    spec: { rules: [{ host: 'a.example.org' }] },
  }),
  classNames: ['nginx'],
  isKnown: true,
  isBeyond: false,
  namespaceLabels: undefined,
};
const NONE = { ingressClassNames: ['none'] };
const UNDECIDED = { namespaceSelector: { matchLabels: { team: 'a' } } };

function weight(name: string, over: Partial<TrafficWeightSpec> = {}, day = 1): TrafficWeight {
  return {
    metadata: { name, creationTimestamp: new Date(Date.UTC(2026, 0, day)) },
    spec: { clusterName: 'cluster-a', backend: { static: { weight: 1 } }, ...over },
  };
}

interface Case {
  readonly what: string;
  readonly main?: TrafficWeight;
  readonly others?: readonly TrafficWeight[];
  /** The TrafficWeight that the DNSEndpoint is of. */
  readonly label?: string;
  readonly wanted: 'own' | 'named' | 'left' | 'removable' | 'kept';
  /** Whether a rival has its hosts. */
  readonly isRival?: boolean;
}

/** The decision of `main` about the Ingress. */
const CASES: readonly Case[] = [
  { what: 'of one', wanted: 'own' },
  { what: 'of none', main: weight('main', NONE), label: 'main', wanted: 'removable' },
  { what: 'of the older of two', main: weight('main', {}, 2), others: [weight('b')], wanted: 'named', isRival: true },
  { what: 'of the first by name, of the same age', others: [weight('other')], wanted: 'own' },
  {
    what: 'that stays with the younger one, which has the DNSEndpoint',
    ...{ main: weight('main', {}, 2), others: [weight('other')], label: 'main', wanted: 'own' },
  },
  {
    what: 'that goes to another TrafficWeight',
    ...{ main: weight('main', NONE), others: [weight('other')], label: 'main', wanted: 'left', isRival: true },
  },
  {
    what: 'that comes from another TrafficWeight',
    ...{ main: weight('main', {}, 2), others: [weight('other', NONE)], label: 'other', wanted: 'own' },
  },
  { what: 'that comes from one that is gone', label: 'gone', wanted: 'own' },
  {
    what: 'of another TrafficWeight, which cannot decide yet',
    ...{ others: [weight('other', UNDECIDED)], label: 'other', wanted: 'named', isRival: true },
  },
  {
    what: 'that another TrafficWeight may select',
    ...{ main: weight('main', NONE), others: [weight('other', UNDECIDED)], label: 'main', wanted: 'kept' },
  },
  {
    what: 'of this one, which cannot decide yet',
    ...{ main: weight('main', UNDECIDED), label: 'main', wanted: 'kept' },
  },
  {
    what: 'of an invalid one',
    ...{ others: [weight('other', { bindingDomain: '-' })], label: 'other', wanted: 'named', isRival: true },
  },
  {
    what: 'of one with another set identifier',
    ...{ main: weight('main', NONE), others: [weight('other', { clusterName: 'cluster-b' })], label: 'other' },
    wanted: 'left',
  },
];

it.each(CASES)(
  'an Ingress $what is $wanted',
  ({ main = weight('main'), others = [], label, wanted, isRival = false }) => {
    const division = divide(main, { weights: [main, ...others], candidates: [INGRESS] }, () => label);
    const other = division.otherOwnerOf(INGRESS.source);
    const [isSelected, isUnselected, isUndecided] = [division.selected, division.unselected, division.undecided].map(
      (list) => list.length === 1,
    );
    const done = {
      own: isSelected === true && other === undefined,
      named: isSelected === true && other !== undefined,
      left: isSelected === false && other !== undefined,
      removable: isUnselected === true,
      kept: isUndecided === true,
    };
    expect(Object.entries(done).flatMap(([what, is]) => (is ? what : []))).toEqual([wanted]);
    expect(division.rivals.length).toBe(isRival ? 1 : 0);
  },
);

describe('a selector', () => {
  const BACKEND = { static: { weight: 1 } };

  function candidate(
    name: string,
    over: Partial<Candidate> & { annotations?: Record<string, string> } = {},
  ): Candidate {
    const { annotations = {}, ...rest } = over;
    const rules = [{ host: `${name}.example.org` }, { host: `${name}.example.com` }];
    const source = sourceOfIngress({ metadata: { name, namespace: 'shop', annotations }, spec: { rules } });
    return { source, classNames: [], isKnown: true, isBeyond: false, namespaceLabels: {}, ...rest };
  }

  const ALL = [
    candidate('bare'),
    candidate('nginx', { classNames: ['nginx'] }),
    candidate('public', { annotations: { dns: 'public=yes' } }),
    candidate('private', { annotations: { dns: 'private' } }),
    candidate('labelled', { namespaceLabels: { team: 'a' } }),
  ];
  const NAMES = ALL.map(({ source }) => source.name);

  it.each<[string, Partial<TrafficWeightSpec>, string[]]>([
    ['nothing', {}, NAMES],
    ['empty selectors', { namespaceSelector: { matchLabels: {} }, ingressClassNames: [] }, NAMES],
    ['a class', { ingressClassNames: ['nginx', 'other'] }, ['nginx']],
    ['an annotation, whose value has a =', { annotationFilter: 'dns=public=yes' }, ['public']],
    ['an annotation that none has', { annotationFilter: 'dns=' }, []],
    ['an annotation with the name of a property', { annotationFilter: 'constructor=x' }, []],
    ['labels of the namespace', { namespaceSelector: { matchLabels: { team: 'a' } } }, ['labelled']],
    ['the domain of one of the hosts', { bindingDomain: 'bare.example.com' }, ['bare']],
    ['two of them', { ingressClassNames: ['nginx'], annotationFilter: 'dns=private' }, []],
  ])('with %s selects those', (_, spec, wanted) => {
    const selects = createSelector({ clusterName: 'a', backend: BACKEND, ...spec });
    expect(ALL.filter((each) => selects(each) === true).map(({ source }) => source.name)).toEqual(wanted);
  });

  it.each<[string, Partial<TrafficWeightSpec>, boolean]>([
    ['no class', {}, true],
    ['a class of Ingresses', { ingressClassNames: ['other'] }, true],
    ['the class of one of its Gateways', { gatewayClassNames: ['internal'] }, true],
    ['its kind', { sources: ['HTTPRoute'] }, true],
    ['another kind', { sources: ['Ingress'] }, false],
    ['another class of Gateways', { gatewayClassNames: ['other'] }, false],
  ])('with %s an HTTPRoute is selected: %s', (_, spec, wanted) => {
    const ingress = candidate('web');
    const route = {
      ...ingress,
      source: { ...ingress.source, kind: 'HTTPRoute' as const },
      classNames: ['public', 'internal'],
    };
    expect(createSelector({ clusterName: 'a', backend: BACKEND, ...spec })(route)).toBe(wanted);
  });

  it('an HTTPRoute whose hosts are not all known may also have others, of other classes', () => {
    const open = { ...candidate('web'), isKnown: false, classNames: ['public'] };
    const selects = (over: Partial<TrafficWeightSpec>) =>
      createSelector({ clusterName: 'a', backend: BACKEND, ...over })(open);
    expect(selects({ bindingDomain: 'example.org' })).toBe(true);
    expect(selects({ bindingDomain: 'example.net' })).toBeUndefined();
    expect(selects({ ingressClassNames: ['other'] })).toBeUndefined();
    expect(selects({ annotationFilter: 'dns=public' })).toBe(false);
  });

  it('one for which there is no room is undecided, whatever is asked of what is not known of it', () => {
    const beyond = { ...candidate('web'), isBeyond: true };
    const selects = (over: Partial<TrafficWeightSpec>) =>
      createSelector({ clusterName: 'a', backend: BACKEND, ...over })(beyond);
    const asked = [
      {},
      { annotationFilter: 'dns=public' },
      { ingressClassNames: ['other'] },
      { sources: ['HTTPRoute' as const] },
    ];
    expect(asked.map(selects)).toEqual([undefined, undefined, undefined, false]);
  });

  it.each<[string, Partial<TrafficWeightSpec>, boolean | undefined]>([
    ['is selected without a selector of namespaces', {}, true],
    [
      'is undecided with one',
      { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } },
      undefined,
    ],
    [
      'is not selected if its annotation differs',
      { namespaceSelector: { matchLabels: { team: 'a' } }, annotationFilter: 'dns=public' },
      false,
    ],
  ])('in a namespace that is not known yet %s', (_, spec, wanted) => {
    const unknown = candidate('unknown', { namespaceLabels: undefined });
    expect(createSelector({ clusterName: 'a', backend: BACKEND, ...spec })(unknown)).toBe(wanted);
  });
});

describe('the settings of the records', () => {
  const BACKEND = { static: { weight: 75 } };

  it('come from the spec, with the weight of the step', () => {
    const spec = {
      ...{ clusterName: 'cluster-a', bindingDomain: 'example.org', annotationPrefix: 'dns.example.org' },
      ...{ healthCheckID: 'abc', recordTTL: 60, backend: BACKEND },
    };
    expect(settingsOf(spec, 20)).toEqual({
      ...{ clusterName: 'cluster-a', bindingDomain: 'example.org', annotationPrefix: 'dns.example.org' },
      ...{ healthCheckId: 'abc', recordTtl: 60, clusterWeight: 20 },
    });
  });

  it('have the prefix of k8s-traffic-controller, and all hosts, without a spec', () => {
    expect(settingsOf({ clusterName: 'cluster-a', backend: BACKEND }, 75)).toEqual({
      ...{ clusterName: 'cluster-a', bindingDomain: '', annotationPrefix: 'dns.adevinta.com', clusterWeight: 75 },
    });
  });
});
