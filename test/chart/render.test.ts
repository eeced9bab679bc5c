import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { helm, helmTemplate, isHook, type Manifest } from '../../scripts/chart/helm.ts';
import { controllerRules, removalRules } from '../../src/controllers/measurement/rbac.ts';
import { readInvocation } from '../../src/options.ts';

const NAMESPACE = 'traffic-operator-system';

function find(objects: readonly Manifest[], kind: string, hook = false): Manifest {
  const found = objects.filter((object) => object.kind === kind && isHook(object) === hook);
  expect(found).toHaveLength(1);
  return found[0]!;
}

interface PodSpec {
  containers: [{ image: string; args: string[]; volumeMounts?: { name: string; mountPath: string }[] }];
  volumes?: object[];
  topologySpreadConstraints?: { labelSelector: { matchLabels: object } }[];
  [field: string]: unknown;
}

function podOf(object: Manifest): PodSpec {
  return (object.spec as { template: { spec: PodSpec } }).template.spec;
}

function argsWith(...args: readonly string[]): string[] {
  return podOf(find(helmTemplate(...args), 'Deployment')).containers[0].args;
}

describe('Chart.yaml', () => {
  it('has the version of the package', () => {
    const text = readFileSync(new URL('../../charts/traffic-operator/Chart.yaml', import.meta.url), 'utf8');
    expect(parse(text)).toMatchObject({ version: packageJson.version, appVersion: packageJson.version });
  });
});

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
    ['an exporter beside a Prometheus that exists', ['nodeExporter.enabled=true'], ['--node-exporter=true']],
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

  it.each([
    ['defaults', []],
    ['every value set', FULL],
    ['nothing that is optional', ['metrics.enabled=false', 'nodeExporter.enabled=false']],
  ])('takes the arguments of manager and cleanup as the chart writes them: %s', (_what, values) => {
    const objects = helmTemplate(...values.flatMap((value) => ['--set', value]));
    const read = (object: Manifest): unknown => readInvocation(podOf(object).containers[0].args, {});
    expect(read(find(objects, 'Deployment'))).toMatchObject({ command: 'manager', flags: { namespace: NAMESPACE } });
    const cleanup = { command: 'cleanup', flags: { namespace: NAMESPACE, deployment: 'traffic-operator' } };
    expect(read(find(objects, 'Job', true))).toMatchObject(cleanup);
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

describe('the rights', () => {
  interface Rule {
    apiGroups: string[];
    resources: string[];
    verbs: string[];
    resourceNames?: string[];
  }
  /** One line a right: 'apps/daemonsets/node-exporter patch'. */
  const rightsOf = (rules: readonly Rule[]): string[] =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = ['*'] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) => verbs.map((verb) => `${group}/${resource}/${name} ${verb}`)),
        ),
      ),
    );
  const rendered = (kind: string, hook = false, ...args: string[]): string[] =>
    rightsOf(find(helmTemplate(...args), kind, hook).rules as Rule[]);
  /** What TrafficWatches need, and the Lease: all that is not measuring. */
  const beside = {
    ClusterRole: [
      ...['list', 'watch', 'patch'].flatMap((verb) => [
        `/nodes/* ${verb}`,
        `traffic.example.com/trafficwatches/* ${verb}`,
      ]),
      ...['status/* patch', 'finalizers/* update'].map((right) => `traffic.example.com/trafficwatches/${right}`),
      ...['get', 'list', 'watch', 'create', 'patch'].map((verb) => `apps/deployments/* ${verb}`),
      ...['create', 'patch'].map((verb) => `events.k8s.io/events/* ${verb}`),
      '/pods/* watch', // Those that failed; measuring lists pods, too.
    ],
    Role: [
      'coordination.k8s.io/leases/* create',
      ...['get', 'list', 'watch', 'update'].map((verb) => `coordination.k8s.io/leases/traffic-operator ${verb}`),
    ],
  };
  const besideInCleanup = {
    ClusterRole: ['list', 'patch'].flatMap((verb) => [
      `/nodes/* ${verb}`,
      `traffic.example.com/trafficwatches/* ${verb}`,
    ]),
    Role: [
      ...['get', 'patch'].map((verb) => `apps/deployments/traffic-operator ${verb}`),
      'coordination.k8s.io/leases/* create',
      ...['get', 'update', 'delete'].map((verb) => `coordination.k8s.io/leases/traffic-operator ${verb}`),
    ],
  };

  it.each([
    ['ClusterRole', 'cluster'],
    ['Role', 'own'],
  ] as const)('of each %s are what the code says that it uses, and no more', (kind, part) => {
    const manager = rightsOf(controllerRules(NAMESPACE)[part] as Rule[]);
    expect(rendered(kind).sort()).toEqual([...manager, ...beside[kind]].sort());
    const cleanup = rightsOf(removalRules(NAMESPACE)[part] as Rule[]);
    expect(rendered(kind, true).sort()).toEqual([...cleanup, ...besideInCleanup[kind]].sort());
  });

  it('of the manager are two more where it has to ask who may read its metrics, and only there', () => {
    const secure = ['--set', 'metrics.secure=true,metrics.certSecret=c'];
    const without = rendered('ClusterRole');
    const more = ['authentication.k8s.io/tokenreviews/* create', 'authorization.k8s.io/subjectaccessreviews/* create'];
    expect(rendered('ClusterRole', false, ...secure).sort()).toEqual([...without, ...more].sort());
    expect(rendered('ClusterRole', false, ...secure, '--set', 'metrics.enabled=false')).toEqual(without);
    expect(rendered('Role', false, ...secure)).toEqual(rendered('Role'));
    expect(rendered('ClusterRole', true, ...secure)).toEqual(rendered('ClusterRole', true));
  });

  it('have neither wildcards nor secrets', () => {
    const all = ['ClusterRole', 'Role'].flatMap((kind) => [...rendered(kind), ...rendered(kind, true)]);
    expect(all.filter((right) => /^\*|\/\*\/|secrets| \*$|escalate|bind|impersonate/.test(right))).toEqual([]);
  });

  it('are not made where somebody else sees to them', () => {
    const objects = helmTemplate('--set', 'rbac.create=false,serviceAccount.create=false,serviceAccount.name=mine');
    expect(objects.filter((object) => !isHook(object) && /Role|ServiceAccount/.test(object.kind))).toEqual([]);
    expect(podOf(find(objects, 'Deployment')).serviceAccountName).toBe('mine');
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

  it('are those of deploy/', () => {
    const text = readFileSync(
      new URL('../../deploy/crds/traffic.example.com_trafficwatches.yaml', import.meta.url),
      'utf8',
    );
    expect(crds()[0]?.spec).toEqual((parse(text) as Manifest).spec);
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
    ['HTTPS without a certificate', 'metrics.secure=true', 'certSecret'],
  ])('are refused by name: %s', (_what, value, name) => {
    expect(() => helm('template', 'x', '--set', value)).toThrow(name);
  });
});
