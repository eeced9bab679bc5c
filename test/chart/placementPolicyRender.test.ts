import type { V1DeploymentSpec } from '@kubernetes/client-node';
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

  const WEBHOOK = 'MutatingWebhookConfiguration';
  const webhooks = (...args: string[]) =>
    helmTemplate(...args).filter((object) => object.kind === WEBHOOK || object.metadata.name.endsWith('-placement'));
  it.each<[string, string, string[], number]>([
    ['no placement webhook by default', 'false', ['--kube-version=1.35.4'], 0],
    ['none with auto where the cluster serves the policy', 'auto', [`--api-versions=apps/v1/Deployment,${SERVED}`], 0],
    ['one with auto where it does not', 'auto', ['--api-versions=apps/v1/Deployment'], 1],
    ['one with auto for 1.35 where no cluster is asked', 'auto', ['--kube-version=1.35.4'], 1],
    ['one on request, also with the policy', 'true', ['--kube-version=1.36.0'], 1],
  ])('has %s', (_what, enabled, args, count) => {
    const found = webhooks(...args, '--set', `placementWebhook.enabled=${enabled}`);
    expect(found.filter(({ kind }) => kind === WEBHOOK)).toHaveLength(count);
    expect(found.filter(({ kind }) => kind === 'Deployment')).toHaveLength(count);
  });

  it('gives the webhook the right to its own configuration, and to PodPlacements, and no other', () => {
    const found = webhooks('--kube-version=1.35.4', '--set', 'placementWebhook.enabled=true');
    const { name } = found.find(({ kind }) => kind === WEBHOOK)!.metadata;
    expect(found.filter(({ kind }) => kind === 'Role')).toEqual([]);
    expect(found.find(({ kind }) => kind === 'ClusterRole')?.rules).toEqual([
      { apiGroups: ['traffic.example.com'], resources: ['podplacements'], verbs: ['list', 'watch'] },
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations'],
        resourceNames: [name],
        verbs: ['get', 'patch'],
      },
    ]);
    // The webhook owns its entry: an upgrade of the chart leaves it.
    expect(found.find(({ kind }) => kind === WEBHOOK)).not.toHaveProperty('webhooks');
    const { spec } = found.find(({ kind }) => kind === 'Deployment') as { spec?: V1DeploymentSpec };
    expect(spec?.template.spec?.containers[0]?.args).toContain(`--configuration=${name}`);
  });
});
