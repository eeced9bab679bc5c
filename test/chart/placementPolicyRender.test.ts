import { describe, expect, it } from 'vitest';
import { POD_PLACEMENT_NAME } from '../../src/api/podplacement/schema.ts';
import { helmTemplate } from '../../scripts/chart/helm.ts';

describe('the chart', () => {
  const BOTH = ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'];
  const SERVED = 'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy';
  const rendered = (...args: string[]) => helmTemplate(...args).filter(({ kind }) => BOTH.includes(kind));

  it.each<[string, string[], string[]]>([
    ['has the placement policy where no cluster is asked, for 1.36', ['--kube-version=1.36.0'], BOTH],
    ['leaves it out for 1.35', ['--kube-version=1.35.4'], []],
    ['has it where the cluster serves the kind', [`--api-versions=apps/v1/Deployment,${SERVED}`], BOTH],
    ['leaves it out where the cluster does not serve the kind', ['--api-versions=apps/v1/Deployment'], []],
    ['leaves it out on request', ['--kube-version=1.36.0', '--set', 'placementPolicy.enabled=false'], []],
  ])('%s', (_what, args, kinds) => {
    expect(rendered(...args).map(({ kind }) => kind)).toEqual(kinds);
  });

  it('never keeps a pod from being created, and lets namespaces without a PodPlacement alone', () => {
    const [policy, binding] = rendered('--kube-version=1.36.0').map(({ spec }) => spec);
    expect(policy).toMatchObject({ failurePolicy: 'Ignore', paramKind: { kind: 'PodPlacement' } });
    expect(binding).toMatchObject({ paramRef: { name: POD_PLACEMENT_NAME, parameterNotFoundAction: 'Allow' } });
  });
});
