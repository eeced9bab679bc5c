import { describe, expect, it } from 'vitest';
import { helmTemplate } from '../../scripts/chart/helm.ts';

describe('the chart', () => {
  const rendered = (...args: string[]): string[] =>
    helmTemplate(...args)
      .filter(({ kind, metadata }) => kind.startsWith('ValidatingAdmission') && metadata.name.endsWith('-nodes'))
      .map(({ kind }) => kind);
  const BOTH = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'];
  const SERVED = 'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy';

  it.each<[string, string[], string[]]>([
    ['has it where no cluster is asked', [], BOTH],
    ['has it where the cluster knows the kind', [`--api-versions=apps/v1/Deployment,${SERVED}`], BOTH],
    ['leaves it out where the cluster does not know the kind', ['--api-versions=apps/v1/Deployment'], []],
    ['leaves it out where that is wished', ['--set', 'nodePolicy.enabled=false'], []],
  ])('%s', (_what, args, kinds) => {
    expect(rendered(...args)).toEqual(kinds);
  });

  it('has no other policy either where the cluster does not know the kind', () => {
    const objects = helmTemplate('--api-versions=apps/v1/Deployment', '--set', 'weights.enabled=true');
    expect(objects.filter(({ kind }) => kind.startsWith('ValidatingAdmission'))).toEqual([]);
  });

  it('names the ServiceAccount of the values', () => {
    const args = ['--set', 'serviceAccount.create=false,serviceAccount.name=mine'];
    const text = JSON.stringify(
      helmTemplate(...args).find(({ kind, metadata }) => kind === BOTH[0] && metadata.name.endsWith('-nodes'))?.spec,
    );
    expect(text).toContain("'system:serviceaccount:traffic-operator-system:mine'");
  });

  it('refuses what it cannot judge, and leaves a trace of it', () => {
    const specs = helmTemplate()
      .filter(({ kind, metadata }) => BOTH.includes(kind) && metadata.name.endsWith('-nodes'))
      .map(({ spec }) => spec);
    expect(specs).toMatchObject([{ failurePolicy: 'Fail' }, { validationActions: ['Deny', 'Audit'] }]);
  });
});
