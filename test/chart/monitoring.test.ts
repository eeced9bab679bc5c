import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { helm, helmTemplate, isHook, type Manifest } from '../../scripts/chart/helm.ts';
import { prometheusSelector } from '../../src/controllers/measurement/components/prometheus.ts';
import { prometheusRuleOf } from '../../src/controllers/measurement/components/rules/prometheusRule.ts';

/** The chart's monitoring objects must select and carry the names and labels of the other objects in the cluster. */
const NAMESPACE = 'traffic-operator-system';

function render(kind: string, ...values: readonly string[]): Manifest[] {
  const objects = helmTemplate(...values.flatMap((value) => ['--set', value]));
  return objects.filter((object) => object.kind === kind && !isHook(object));
}

interface Policy {
  podSelector: { matchLabels: object };
  ingress?: { ports: [{ port: string }]; from: { podSelector?: { matchLabels: object } }[] }[];
}

const policies = (...values: readonly string[]): Policy[] =>
  render('NetworkPolicy', 'networkPolicy.enabled=true', ...values).map((object) => object.spec as Policy);
const podLabels = (): Record<string, string> | undefined =>
  (render('Deployment')[0]?.spec as { template: Manifest }).template.metadata.labels;

describe('the ServiceMonitor', () => {
  const ENABLED = 'metrics.serviceMonitor.enabled=true';

  it('selects the Service of the metrics by its labels and its port, under the job that the rules name', () => {
    const [service] = render('Service');
    const spec = render('ServiceMonitor', ENABLED)[0]?.spec as {
      jobLabel: string;
      selector: { matchLabels: object };
      endpoints: [{ port: string }];
    };
    expect(service?.metadata.labels).toMatchObject(spec.selector.matchLabels);
    expect(service?.metadata.labels?.[spec.jobLabel]).toBe('traffic-operator');
    expect((service?.spec as { ports: [{ name: string }] }).ports[0].name).toBe(spec.endpoints[0].port);
  });

  it('is refused where there is nothing to scrape', () => {
    expect(() => helm('template', 'x', '--set', `${ENABLED},metrics.enabled=false`)).toThrow('needs metrics.enabled');
  });

  it('shows its token by HTTPS only', () => {
    const endpoint = (...values: string[]): unknown =>
      (render('ServiceMonitor', ENABLED, ...values)[0]?.spec as { endpoints: [unknown] }).endpoints[0];
    expect(endpoint()).toEqual({ port: 'metrics', path: '/metrics', honorLabels: true });
    expect(endpoint('metrics.secure=true', 'metrics.certSecret=c')).toMatchObject({
      scheme: 'https',
      bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
      tlsConfig: { serverName: `traffic-operator-metrics.${NAMESPACE}.svc` },
    });
  });
});

describe('the notes', () => {
  const SECURE = ['metrics.secure=true', 'metrics.certSecret=c'];
  const notes = (...values: readonly string[]): string =>
    helm('install', 'x', '--dry-run=client', ...values.flatMap((value) => ['--set', value])).split('NOTES:')[1]!;

  it('say that the deployed Prometheus cannot scrape an operator that asks for a token, and only then', () => {
    const told = 'this Prometheus does not scrape the operator';
    expect(notes(...SECURE)).toContain(told);
    expect(notes()).not.toContain(told);
    expect(notes(...SECURE, 'metrics.enabled=false')).not.toContain(told);
    expect(notes(...SECURE, 'prometheus.url=http://p')).not.toContain(told);
  });

  it('say where the verdict of the connectivity check is, and only with it', () => {
    const told = '\n\n  kubectl get connectivitycheck\n';
    expect(notes('connectivity.enabled=true')).toContain(told);
    expect(notes('connectivity.enabled=true', 'prometheus.url=http://p')).toContain(told);
    expect(notes()).not.toContain('kubectl get connectivitycheck');
  });

  const NEITHER = 'With stacks.default=false it deploys neither';
  const EITHER = 'uses the node-exporter and the Prometheus that the cluster has already, or deploys them';
  it.each<[string, string[], string[], string[]]>([
    [
      'that the stack default may use what the cluster has',
      [],
      [EITHER, 'kubectl get trafficstack'],
      [NEITHER, 'the workloads of TrafficStacks'],
    ],
    [
      'that it deploys nothing where there is no stack default',
      ['stacks.enabled=true', 'stacks.default=false'],
      [NEITHER, 'kubectl get trafficstack'],
      [EITHER],
    ],
    [
      'that it queries a Prometheus',
      ['prometheus.url=http://p'],
      ['It queries http://p', 'kubectl get trafficstack'],
      [EITHER, NEITHER],
    ],
    [
      'that stacks have the namespace of the release alone',
      ['stacks.enabled=true'],
      ['the workloads of TrafficStacks in default, and'],
      ['TrafficStacks in every namespace'],
    ],
    [
      'that stacks have every namespace',
      ['stacks.enabled=true', 'stacks.namespaces={*}'],
      ['the workloads of TrafficStacks in every namespace'],
      [],
    ],
    [
      'which namespaces stacks have',
      ['stacks.enabled=true', 'stacks.namespaces={shop,lab}'],
      ['the workloads of TrafficStacks in default, shop, lab'],
      ['TrafficStacks in every namespace'],
    ],
  ])('say %s', (_what, values, told, untold) => {
    const text = notes(...values).replaceAll(/\s+/g, ' ');
    for (const each of told) expect(text).toContain(each);
    for (const each of untold) expect(text).not.toContain(each);
  });

  it('say that TrafficStacks are deleted before their CRD, and only with stacks', () => {
    const told = 'First delete your TrafficStacks';
    expect(notes('stacks.enabled=true')).toContain(told);
    expect(notes()).not.toContain(told);
    expect(notes('stacks.enabled=true', 'crds.keep=false')).toContain(told);
  });
});

describe('the PrometheusRule', () => {
  it('has every group of prometheus/rules, each with a name of its own and its templates as they are', () => {
    const groups = ['recording', 'alerts'].flatMap((name) => {
      const text = readFileSync(new URL(`../../prometheus/rules/${name}.yml`, import.meta.url), 'utf8');
      return (parse(text) as { groups: { name: string }[] }).groups;
    });
    const [rule] = render('PrometheusRule', 'prometheusRule.enabled=true');
    const spec = rule?.spec as { groups: { name: string }[] };
    const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
    expect(spec.groups.sort(byName)).toEqual(groups.sort(byName));
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
    expect(JSON.stringify(spec)).toContain('{{ $labels.node }}');
  });

  it('has the name of the object of a stack: with both, the stack finds it and does not touch it', () => {
    const [rule] = render('PrometheusRule', 'prometheusRule.enabled=true');
    const { object } = prometheusRuleOf({}, NAMESPACE);
    expect(rule?.metadata).toMatchObject({ name: object.metadata?.name, namespace: object.metadata?.namespace });
    expect(object).toMatchObject({ apiVersion: rule?.apiVersion, kind: rule?.kind, spec: rule?.spec });
  });
});

describe('the NetworkPolicies', () => {
  it('let the deployed Prometheus scrape the operator, and the operator ask it, and nobody else', () => {
    const [operator, prometheus] = policies();
    expect(podLabels()).toMatchObject(operator!.podSelector.matchLabels);
    expect(prometheus!.podSelector.matchLabels).toEqual(prometheusSelector(NAMESPACE));
    const from = (matchLabels: object): object[] => [{ podSelector: { matchLabels } }];
    expect(operator!.ingress).toEqual([
      { ports: [{ port: 'metrics', protocol: 'TCP' }], from: from(prometheusSelector(NAMESPACE)) },
    ]);
    expect(prometheus!.ingress).toEqual([
      { ports: [{ port: 'web', protocol: 'TCP' }], from: from(operator!.podSelector.matchLabels) },
    ]);
  });

  it('never let everybody in: an empty list of peers would', () => {
    const [operator, ...others] = policies('prometheus.url=http://p');
    expect(others).toEqual([]);
    expect(operator!.ingress).toBeUndefined();
    expect(policies('metrics.enabled=false')[0]!.ingress).toBeUndefined();
  });
});
