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

  describe('lets the metrics of the webhook be scraped', () => {
    const ON = 'placementWebhook.enabled=true,metrics.serviceMonitor.enabled=true,networkPolicy.enabled=true';
    const find = (kind: string, more = 'metrics.enabled=true') =>
      webhooks('--kube-version=1.35.4', '--set', `${ON},${more}`).find((object) => object.kind === kind);

    it('by a port of its Service, under a job of its own', () => {
      const { metadata, spec } = find('Service')!;
      const monitor = find('ServiceMonitor')!.spec as { selector: { matchLabels: object }; endpoints: object[] };
      expect(metadata.labels).toMatchObject(monitor.selector.matchLabels);
      expect((spec as { ports: { name: string }[] }).ports.map(({ name }) => name)).toEqual(['webhook', 'metrics']);
      const relabelings = [{ targetLabel: 'job', replacement: 'traffic-operator-placement' }];
      expect(monitor.endpoints).toEqual([{ port: 'metrics', path: '/metrics', honorLabels: true, relabelings }]);
    });

    it('by the deployed Prometheus alone, while everybody reaches the webhook', () => {
      const { ingress } = find('NetworkPolicy')!.spec as { ingress: { ports: [{ port: string }]; from?: object[] }[] };
      expect(ingress.map(({ ports, from }) => [ports[0].port, from?.length])).toEqual([
        ['webhook', undefined],
        ['metrics', 1],
      ]);
    });

    it('with metrics.secure by those that the API server authorizes, which it may ask', () => {
      const secure = 'metrics.secure=true,metrics.certSecret=tls';
      expect(find('ClusterRole', secure)!.rules).toContainEqual({
        apiGroups: ['authentication.k8s.io'],
        resources: ['tokenreviews'],
        verbs: ['create'],
      });
      const { containers, volumes } = (find('Deployment', secure)!.spec as V1DeploymentSpec).template.spec!;
      expect(volumes).toEqual([{ name: 'certificate', secret: { secretName: 'tls' } }]);
      expect(containers[0]?.args).toContain('--metrics-cert-path=/etc/traffic-operator/certificate');
    });
  });
});
