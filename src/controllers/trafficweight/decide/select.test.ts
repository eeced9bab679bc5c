import { expect, it } from 'vitest';
import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';
import { select } from './select.ts';

const BACKEND = { static: { weight: 1 } };

function candidate(name: string, over: Partial<Candidate> & { annotations?: Record<string, string> } = {}): Candidate {
  const { annotations = {}, ...rest } = over;
  const source = sourceOfIngress({ metadata: { name, namespace: 'shop', annotations } });
  return { source, className: undefined, namespaceLabels: {}, ...rest };
}

const ALL = [
  candidate('bare'),
  candidate('nginx', { className: 'nginx' }),
  candidate('public', { annotations: { dns: 'public=yes' } }),
  candidate('private', { annotations: { dns: 'private' } }),
  candidate('labelled', { namespaceLabels: { team: 'a' } }),
  candidate('unknown', { namespaceLabels: undefined }),
];

it.each<[string, Partial<TrafficWeightSpec>, string[]]>([
  ['nothing', {}, ['bare', 'nginx', 'public', 'private', 'labelled', 'unknown']],
  ['empty selectors', { namespaceSelector: {}, ingressClassNames: [] }, ALL.map(({ source }) => source.name)],
  ['a class', { ingressClassNames: ['nginx', 'other'] }, ['nginx']],
  ['an annotation, whose value has a =', { annotationFilter: 'dns=public=yes' }, ['public']],
  ['an annotation that none has', { annotationFilter: 'dns=' }, []],
  ['labels of the namespace', { namespaceSelector: { matchLabels: { team: 'a' } } }, ['labelled']],
  ['two of them', { ingressClassNames: ['nginx'], annotationFilter: 'dns=private' }, []],
])('with %s selects those', (_, spec, wanted) => {
  const selected = select(ALL, { clusterName: 'a', backend: BACKEND, ...spec });
  expect(selected.map(({ name }) => name)).toEqual(wanted);
});
