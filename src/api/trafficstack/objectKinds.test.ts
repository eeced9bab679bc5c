import { expect, it } from 'vitest';
import type { Resource } from '../../runtime/client/resource.ts';
import { objectKindOf, objectKindsProblem } from './objectKinds.ts';

const kinds = (...texts: string[]): Resource[] => texts.map((text) => objectKindOf(text)!);

it('reads a kind with and without a group', () => {
  const job = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true };
  expect(objectKindOf('batch/v1/jobs/Job')).toEqual(job);
  expect(objectKindOf('v1/serviceaccounts/ServiceAccount')).toMatchObject({ group: '', plural: 'serviceaccounts' });
  expect(['Job', 'batch/v1/Job', 'batch/v1/jobs/job', 'batch/1/jobs/Job', 'a/b/v1/jobs/Job'].map(objectKindOf)).toEqual(
    Array.from({ length: 5 }),
  );
});

it.each<[why: string, texts: string[], problem: string | undefined]>([
  [
    'kinds of others',
    ['batch/v1/jobs/Job', 'rbac.authorization.k8s.io/v1/roles/Role', 'v1/services/Service'],
    undefined,
  ],
  ['one kind twice', ['batch/v1/jobs/Job', 'batch/v1/jobs/Job'], undefined],
  [
    'Secrets are not read',
    ['v1/secrets/Secret'],
    'v1/secrets/Secret must not be allowed: the operator does not read Secrets',
  ],
  ['pods have a type', ['v1/pods/Pod'], 'use a component of the type Workload, or a Job'],
  ['workloads have a type', ['apps/v1/deployments/Deployment'], 'use a component of the type Workload'],
  ['a kind of the cluster', ['rbac.authorization.k8s.io/v1/clusterroles/ClusterRole'], 'it is of the whole cluster'],
  [
    'a kind of the operator',
    ['traffic.example.com/v1alpha1/trafficwatches/TrafficWatch'],
    'it is a kind of the operator',
  ],
  [
    'a stack knows no groups',
    ['serving.knative.dev/v1/services/Service'],
    'serving.knative.dev/v1/services/Service must not be allowed together with v1/services/Service: kinds of stacks must have different names',
  ],
  ['nor do two of others', ['a.org/v1/things/Thing', 'b.org/v1/things/Thing'], 'together with a.org/v1/things/Thing'],
])('%s', (_why, texts, problem) => {
  const found = objectKindsProblem(kinds(...texts));
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});
