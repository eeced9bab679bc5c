import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { helm, helmTemplate, type Manifest } from '../../scripts/chart/helm.ts';
import { loadCommand } from '../../src/commands/commands.ts';
import { readInvocation } from '../../src/commands/invocation.ts';
import { find, podOf } from './rendered.ts';

const NAMESPACE = 'traffic-operator-system';

function argsWith(...args: readonly string[]): string[] {
  return podOf(find(helmTemplate(...args), 'Deployment')).containers[0].args;
}

describe('Chart.yaml', () => {
  const text = readFileSync(new URL('../../charts/traffic-operator/Chart.yaml', import.meta.url), 'utf8');
  const metadata = parse(text) as { version: string; appVersion: string; annotations: Record<string, string> };

  it('has the version of the package', () => {
    expect(metadata).toMatchObject({ version: packageJson.version, appVersion: packageJson.version });
  });

  it('lists each CRD that the chart may have, with its served version and a description', () => {
    const listed = parse(metadata.annotations['artifacthub.io/crds'] ?? '') as ListedCrd[];
    const found = helmTemplate('--set=connectivity.enabled=true,weights.enabled=true,stacks.enabled=true').flatMap(
      (object) => (object.kind === 'CustomResourceDefinition' ? [listedAs(object)] : []),
    );
    const files = readdirSync(new URL('../../charts/traffic-operator/templates/crds', import.meta.url));
    expect(found).toHaveLength(files.length);
    const byName = (a: ListedCrd, b: ListedCrd) => a.name.localeCompare(b.name);
    const withDescription = (crd: ListedCrd) => ({
      ...crd,
      description: expect.stringMatching(/^.{20,}\.$/) as string,
    });
    expect(listed.sort(byName)).toEqual(found.map(withDescription).sort(byName));
  });
});

/** As Artifact Hub wants it: https://artifacthub.io/docs/topics/annotations/helm/ */
interface ListedCrd {
  kind: string;
  version: string;
  name: string;
  displayName: string;
  description?: string;
}

function listedAs({ metadata: { name }, spec }: Manifest): ListedCrd {
  const { names, versions } = spec as { names: { kind: string }; versions: { name: string; served: boolean }[] };
  const version = versions.find(({ served }) => served)?.name ?? '';
  return { kind: names.kind, version, name, displayName: names.kind };
}

describe('the arguments of the manager', () => {
  it('are few when nothing is asked for', () => {
    expect(argsWith()).toEqual([
      'manager',
      `--namespace=${NAMESPACE}`,
      '--leader-elect',
      '--log-level=info',
      '--health-probe-bind-address=:8081',
      '--metrics-bind-address=:8080',
      '--interval=10s',
      '--scrape-interval=5s',
      '--prometheus-image=quay.io/prometheus/prometheus:v3.15.0',
      '--node-exporter-image=quay.io/prometheus/node-exporter:v1.12.1',
      '--node-exporter-port=9100',
      '--default-stack=true',
    ]);
  });

  it.each<[string, string[], string[]]>([
    ['a Prometheus that exists', ['prometheus.url=https://p.example/x'], ['--prometheus-url=https://p.example/x']],
    ['a window', ['window=2m'], ['--window=2m']],
    ['no metrics', ['metrics.enabled=false'], ['--metrics-bind-address=0']],
    [
      'metrics by HTTPS',
      ['metrics.secure=true', 'metrics.certSecret=c'],
      ['--metrics-secure', '--metrics-cert-path=/etc/traffic-operator/certificate'],
    ],
    ['no exporter', ['nodeExporter.enabled=false'], ['--node-exporter=false']],
    ['an exporter with an existing Prometheus', ['nodeExporter.enabled=true'], ['--node-exporter=true']],
    ['headers', ['prometheus.headers.X-Scope-OrgID=a b'], ['--prometheus-header=X-Scope-OrgID: a b']],
    [
      'matchers with quotes in them',
      ['prometheus.matchers={cluster="x",a!=b}'],
      ['--prometheus-matcher=cluster="x"', '--prometheus-matcher=a!=b'],
    ],
    ['devices to leave out', ['deviceExclude=^(ib|eno2$)'], ['--device-exclude=^(ib|eno2$)']],
    ['more arguments', ['extraArgs={--a=b}'], ['--a=b']],
  ])('say so where there is %s', (_what, values, expected) => {
    expect(argsWith(...values.flatMap((value) => ['--set', value]))).toEqual(expect.arrayContaining(expected));
  });

  it('name the files of secrets, which are mounted as directories so that they follow a rotation', () => {
    const values = [
      'passwordSecret.name=p',
      'bearerTokenSecret.name=t',
      'caConfigMap.name=c',
      'caConfigMap.key=root.pem',
    ];
    const pod = podOf(find(helmTemplate(...values.flatMap((value) => ['--set', `prometheus.${value}`])), 'Deployment'));
    expect(pod.containers[0].args).toEqual(
      expect.arrayContaining([
        '--prometheus-password-file=/etc/traffic-operator/password/password',
        '--prometheus-bearer-token-file=/etc/traffic-operator/token/token',
        '--prometheus-ca-file=/etc/traffic-operator/ca/root.pem',
      ]),
    );
    expect(pod.volumes).toEqual([
      { name: 'ca', configMap: { name: 'c' } },
      { name: 'password', secret: { secretName: 'p' } },
      { name: 'token', secret: { secretName: 't' } },
    ]);
    expect(pod.containers[0].volumeMounts).toContainEqual({
      name: 'ca',
      mountPath: '/etc/traffic-operator/ca',
      readOnly: true,
    });
  });
});

describe('the program', () => {
  const FULL = [
    'prometheus.url=https://p.example',
    'prometheus.username=u',
    'prometheus.passwordSecret.name=s',
    'prometheus.caSecret.name=s',
    'prometheus.headers.X-Scope-OrgID=a b',
    'prometheus.matchers={cluster="x"}',
    'nodeExporter.enabled=true',
    'metrics.secure=true',
    'metrics.certSecret=c',
    'window=2m',
    'deviceExclude=^ib,deviceExcludeDefault=^$',
  ];

  const CONNECTIVITY = [
    'connectivity.enabled=true',
    'connectivity.reportInterval=1m30s',
    'connectivity.tls.secretName=server-tls',
    'connectivity.server.resources.limits.memory=1Gi',
    'connectivity.server.nodeSelector.pool=infra',
    'connectivity.server.tolerations[0].key=infra,connectivity.server.tolerations[0].operator=Exists',
    'connectivity.server.priorityClassName=high',
    'connectivity.agents.resources.requests.cpu=5m',
    'connectivity.agents.priorityClassName=system-node-critical',
  ];

  it.each([
    ['defaults', []],
    ['every value set', FULL],
    ['nothing that is optional', ['metrics.enabled=false', 'nodeExporter.enabled=false']],
    ['the connectivity check', CONNECTIVITY],
  ])('takes the arguments of manager and cleanup as the chart writes them: %s', async (_what, values) => {
    const objects = helmTemplate(...values.flatMap((value) => ['--set', value]));
    const commandOf = async (object: Manifest): Promise<string> => {
      const invocation = readInvocation(podOf(object).containers[0].args);
      if (invocation.kind !== 'run') throw new Error(invocation.kind);
      (await loadCommand(invocation.command)).prepare(invocation.args, {});
      return invocation.command;
    };
    expect(await commandOf(find(objects, 'Deployment'))).toBe('manager');
    expect(await commandOf(find(objects, 'Job', true))).toBe('cleanup');
  });
});

describe('TLS of the connectivity server', () => {
  const objects = helmTemplate(
    ...['--set', 'connectivity.enabled=true,networkPolicy.enabled=true'],
    ...['--set', 'connectivity.tls.secretName=server-tls'],
  );

  it('gives the operator the CA, and not the key, and lets it start without the Secret', () => {
    const { volumes } = podOf(find(objects, 'Deployment')) as unknown as { volumes: object[] };
    const items = [{ key: 'ca.crt', path: 'ca.crt' }];
    expect(volumes).toEqual([{ name: 'connectivity-ca', secret: { secretName: 'server-tls', optional: true, items } }]);
  });

  it('opens the port of HTTPS, which the pod of the server then has', () => {
    const policy = objects.find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith('-connectivity'),
    );
    expect(policy?.spec).toMatchObject({ ingress: [{ ports: [{ port: 'https', protocol: 'TCP' }] }] });
  });
});

describe('the image', () => {
  it.each([
    ['the version of the chart', [], `traffic-operator:${packageJson.version}`],
    ['a tag', ['--set', 'image.repository=r.example/op,image.tag=v9'], 'r.example/op:v9'],
    ['a digest, whatever the tag', ['--set', 'image.tag=v9,image.digest=sha256:ab'], 'traffic-operator@sha256:ab'],
  ])('is %s, for the clean-up as for the manager', (_what, args, image) => {
    const objects = helmTemplate(...args);
    expect(podOf(find(objects, 'Deployment')).containers[0].image).toBe(image);
    expect(podOf(find(objects, 'Job', true)).containers[0].image).toBe(image);
  });
});

describe('the CRDs', () => {
  const crds = (...args: string[]): Manifest[] =>
    helmTemplate(...args).filter((object) => object.kind === 'CustomResourceDefinition');

  it('are kept at an uninstallation, unless that is not wanted', () => {
    expect(crds()[0]?.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(crds('--set', 'crds.keep=false')[0]?.metadata.annotations).toBeUndefined();
    expect(crds('--set', 'crds.enabled=false')).toEqual([]);
  });

  it('of another API group is always kept, with the reports of another deployment', () => {
    const foreign = crds('--set', 'connectivity.enabled=true,crds.keep=false').filter(({ metadata }) =>
      metadata.name.endsWith('.network-checker.ext'),
    );
    expect(foreign.map(({ metadata }) => metadata.annotations)).toEqual([{ 'helm.sh/resource-policy': 'keep' }]);
  });

  it('are the objects of deploy/', () => {
    const rendered = crds('--set', 'connectivity.enabled=true,weights.enabled=true');
    expect(rendered).toHaveLength(6);
    for (const { metadata, spec } of rendered) {
      const [plural, ...group] = metadata.name.split('.');
      const url = new URL(`../../deploy/crds/${group.join('.')}_${plural}.yaml`, import.meta.url);
      expect(spec).toEqual((parse(readFileSync(url, 'utf8')) as Manifest).spec);
    }
  });

  it('have the CRD of Agents only with the connectivity check: k8s-netchecker may also have installed it', () => {
    expect(crds().map(({ metadata }) => metadata.name)).toEqual([
      'connectivitychecks.traffic.example.com',
      'podplacements.traffic.example.com',
      'trafficstacks.traffic.example.com',
      'trafficwatches.traffic.example.com',
    ]);
  });
});

describe('scheduling', () => {
  it('spreads the pods of this release', () => {
    const pod = podOf(find(helmTemplate(), 'Deployment'));
    expect(pod.topologySpreadConstraints?.[0]?.labelSelector.matchLabels).toEqual({
      'app.kubernetes.io/name': 'traffic-operator',
      'app.kubernetes.io/instance': 'traffic-operator',
      'app.kubernetes.io/component': 'manager',
    });
  });

  it('never lets the clean-up pass for a pod of the manager, whose end it waits for', () => {
    const objects = helmTemplate('--set', 'podLabels.a=b');
    const selector = (find(objects, 'Deployment').spec as { selector: { matchLabels: object } }).selector.matchLabels;
    const labels = (find(objects, 'Job', true).spec as { template: Manifest }).template.metadata.labels;
    expect(labels).not.toMatchObject(selector);
  });
});

describe('values', () => {
  it.each([
    ['a misspelt one', 'replica=3', 'replica'],
    ['a misspelt one deep down', 'prometheus.uri=x', 'uri'],
    ['text for a number', 'replicas=two', 'replicas'],
    ['an interval without a unit', 'interval=10', 'interval'],
    ['a URL without a scheme', 'prometheus.url=prometheus:9090', 'url'],
    ['a level that does not exist', 'logLevel=loud', 'logLevel'],
    ['an interval at which agents end', 'connectivity.reportInterval=1s', 'reportInterval'],
    ['an interval in ms', 'connectivity.reportInterval=500ms', 'reportInterval'],
    ['no interval', 'connectivity.reportInterval=0s', 'reportInterval'],
    ['an interval of half seconds', 'connectivity.reportInterval=1.5s', 'reportInterval'],
    ['HTTPS without a certificate', 'metrics.secure=true', 'certSecret'],
    ['values of an older chart, as --reuse-values takes them', 'requesterPolicy=null', '--reset-then-reuse-values'],
  ])('are refused by name: %s', (_what, value, name) => {
    expect(() => helm('template', 'x', '--set', value)).toThrow(name);
  });
});
