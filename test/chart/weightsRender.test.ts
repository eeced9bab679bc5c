import { expect, it } from 'vitest';
import { helmTemplate, isHook, type Manifest } from '../../scripts/chart/helm.ts';
import { find, podOf } from './rendered.ts';

/** Tests the manifests of the process for DNS weights, except its rights (renderedRights.test.ts). */
const VALUES =
  'weights.enabled=true,metrics.serviceMonitor.enabled=true,networkPolicy.enabled=true,serviceAccount.annotations.a=b';
const SELECTOR = {
  'app.kubernetes.io/name': 'traffic-operator',
  'app.kubernetes.io/instance': 'traffic-operator',
  'app.kubernetes.io/component': 'weights',
};
const all = helmTemplate('--set', VALUES).filter((object) => !isHook(object));
const spec = ({ spec: found }: Manifest): unknown => found;
const ofWeights = (kind: string): Manifest => find(all, kind, false, 'weights');

it('the process and its pods are selected by a component of their own', () => {
  expect(spec(ofWeights('Deployment'))).toMatchObject({ replicas: 2, selector: { matchLabels: SELECTOR } });
  expect(spec(ofWeights('PodDisruptionBudget'))).toMatchObject({ selector: { matchLabels: SELECTOR } });
  expect(spec(ofWeights('Service'))).toMatchObject({ selector: SELECTOR, ports: [{ name: 'metrics' }] });
  expect(spec(ofWeights('NetworkPolicy'))).toMatchObject({
    podSelector: { matchLabels: SELECTOR },
    ingress: [{ ports: [{ port: 'metrics' }] }],
  });
  expect(podOf(ofWeights('Deployment')).topologySpreadConstraints).toMatchObject([
    { labelSelector: { matchLabels: SELECTOR } },
  ]);
});

it('it is scraped with a job of its own, so that it does not count as a replica of the manager', () => {
  const labels = { ...SELECTOR, 'app.kubernetes.io/part-of': 'traffic-operator' };
  expect(ofWeights('Service').metadata.labels).toMatchObject(labels);
  expect(spec(ofWeights('ServiceMonitor'))).toMatchObject({
    selector: { matchLabels: SELECTOR },
    endpoints: [{ relabelings: [{ targetLabel: 'job', replacement: 'traffic-operator-weights' }] }],
  });
  expect(spec(find(all, 'ServiceMonitor'))).not.toHaveProperty('endpoints.0.relabelings');
});

it('it may query the deployed Prometheus, and renew its Lease on a busy API server', () => {
  const prometheus = all.find(
    ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith('-prometheus'),
  );
  expect(JSON.stringify(prometheus?.spec)).toContain('"app.kubernetes.io/component":"weights"');
  expect(JSON.stringify(find(all, 'FlowSchema').spec)).toContain('"name":"traffic-operator-weights"');
});

it('its account has only annotations of its own, such as the IAM role', () => {
  expect(ofWeights('ServiceAccount').metadata.annotations).toBeUndefined();
  expect(find(all, 'ServiceAccount').metadata.annotations).toEqual({ a: 'b' });
});

it('it queries the Prometheus of the values, with the files of its credentials', () => {
  const values =
    'weights.enabled=true,prometheus.url=https://p,prometheus.bearerTokenSecret.name=s,stacks.enabled=false,discovery.namespaces={m}';
  const pod = podOf(find(helmTemplate('--set', values), 'Deployment', false, 'weights'));
  expect(pod.containers[0].args).toEqual([
    'trafficweights',
    '--namespace=traffic-operator-system',
    '--leader-elect',
    '--log-level=info',
    '--health-probe-bind-address=:8081',
    '--metrics-bind-address=:8080',
    '--prometheus-url=https://p',
    '--prometheus-bearer-token-file=/etc/traffic-operator/token/token',
    '--discovery-namespace=m',
  ]);
  expect(pod.volumes).toEqual([{ name: 'token', secret: { secretName: 's' } }]);
});

it('without weights.enabled there is none of it', () => {
  const named = helmTemplate().filter(({ metadata }) =>
    /^traffic-operator(-system-traffic-operator)?-weights$/.test(metadata.name),
  );
  expect(named).toEqual([]);
});
