import { describe, expect, it } from 'vitest';
import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';
import { select, type Selection } from './select.ts';

const BACKEND = { static: { weight: 1 } };

function candidate(name: string, over: Partial<Candidate> & { annotations?: Record<string, string> } = {}): Candidate {
  const { annotations = {}, ...rest } = over;
  const source = sourceOfIngress({ metadata: { name, namespace: 'shop', annotations } });
  return { source, className: undefined, namespaceLabels: {}, ...rest };
}

const KNOWN = [
  candidate('bare'),
  candidate('nginx', { className: 'nginx' }),
  candidate('public', { annotations: { dns: 'public=yes' } }),
  candidate('private', { annotations: { dns: 'private' } }),
  candidate('labelled', { namespaceLabels: { team: 'a' } }),
];
const NAMES = KNOWN.map(({ source }) => source.name);

it.each<[string, Partial<TrafficWeightSpec>, string[]]>([
  ['nothing', {}, NAMES],
  ['empty selectors', { namespaceSelector: { matchLabels: {} }, ingressClassNames: [] }, NAMES],
  ['a class', { ingressClassNames: ['nginx', 'other'] }, ['nginx']],
  ['an annotation, whose value has a =', { annotationFilter: 'dns=public=yes' }, ['public']],
  ['an annotation that none has', { annotationFilter: 'dns=' }, []],
  ['an annotation with the name of a property', { annotationFilter: 'constructor=x' }, []],
  ['labels of the namespace', { namespaceSelector: { matchLabels: { team: 'a' } } }, ['labelled']],
  ['two of them', { ingressClassNames: ['nginx'], annotationFilter: 'dns=private' }, []],
])('with %s selects those', (_, spec, wanted) => {
  const { selected, others } = select(KNOWN, { clusterName: 'a', backend: BACKEND, ...spec });
  expect(selected.map(({ name }) => name)).toEqual(wanted);
  expect(others.map(({ name }) => name)).toEqual(NAMES.filter((name) => !wanted.includes(name)));
});

describe('in a namespace that is not known yet', () => {
  const unknown = candidate('unknown', { namespaceLabels: undefined });
  const { source } = unknown;

  it.each<[string, Partial<TrafficWeightSpec>, Selection]>([
    ['is selected without a selector of namespaces', {}, { selected: [source], others: [] }],
    [
      'is undecided with one',
      { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } },
      { selected: [], others: [] },
    ],
    [
      'is not selected if its annotation is another one',
      { namespaceSelector: { matchLabels: { team: 'a' } }, annotationFilter: 'dns=public' },
      { selected: [], others: [source] },
    ],
  ])('%s', (_, spec, wanted) => {
    expect(select([unknown], { clusterName: 'a', backend: BACKEND, ...spec })).toEqual(wanted);
  });
});
