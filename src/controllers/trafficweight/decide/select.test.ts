import { expect, it } from 'vitest';
import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';
import { createSelector } from './select.ts';

const BACKEND = { static: { weight: 1 } };

function candidate(name: string, over: Partial<Candidate> & { annotations?: Record<string, string> } = {}): Candidate {
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

it('an HTTPRoute whose hosts are not known is undecided, unless its annotation says that it is not selected', () => {
  const unknown = { ...candidate('web'), isKnown: false };
  const selects = (over: Partial<TrafficWeightSpec>) =>
    createSelector({ clusterName: 'a', backend: BACKEND, ...over })(unknown);
  expect([selects({}), selects({ annotationFilter: 'dns=public' })]).toEqual([undefined, false]);
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
