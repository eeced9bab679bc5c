import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Container, V1Deployment, V1JSONSchemaProps, V1PodSpec } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../../scripts/chart/helm.ts';
import type { Descriptor } from '../../../scripts/generate/bundle/descriptors.ts';
import { operatorObjects, renderChart } from '../../../scripts/generate/deploy.ts';
import { problems } from '../../../scripts/olm/validators.ts';
import { fixedIds, refusals, RESTRICTED_V2 } from '../constraints.ts';
import { find } from '../rendered.ts';
import { withoutIds } from '../withoutIds.ts';
import { BUNDLE, csvOf, DEPLOY, manifestsOf, read, withChangedCsv } from './files.ts';

/** bundle/ as OLM reads it, by the validators of operator-framework and against the chart with weights. */
const csv = csvOf(BUNDLE);
const rendered = operatorObjects(renderChart(['weights.enabled=true']));
const ofChart = (kind: string, process: 'manager' | 'weights' = 'manager'): Manifest =>
  find(rendered, kind, false, process);
/** Fields with the schema of a kind of Kubernetes. */
const FOREIGN = ['deployment', 'podTemplate', 'volumeClaimTemplates'];

describe('the validators of operator-framework', () => {
  it('find nothing in the bundle, not even a warning', () => {
    expect(problems(BUNDLE)).toEqual([]);
  });

  it.each<[string, (changed: typeof csv) => void, RegExp]>([
    [
      'no CRD for an owned kind',
      ({ spec }) => (spec.customresourcedefinitions.owned[0]!.version = 'v9'),
      /not found in bundle/,
    ],
    ['no example of a kind', ({ metadata }) => (metadata.annotations['alm-examples'] = '[]'), /should have an example/],
    ['no icon', ({ spec }) => Reflect.deleteProperty(spec, 'icon'), /Icon not specified/],
    [
      'no requests of the container',
      ({ spec }) => Reflect.deleteProperty(containerOf(spec), 'resources'),
      /resource requests/,
    ],
    ['an unknown category', ({ metadata }) => (metadata.annotations.categories = 'Traffic'), /Traffic/],
    [
      'more than fits into a ConfigMap, compressed',
      ({ spec }) => (spec.description = randomBytes(1 << 20).toString('base64')),
      /maximum bundle compressed size with gzip size exceeded/,
    ],
  ])('find %s', (_what, change, message) => {
    withChangedCsv(change, (directory) => expect(problems(directory).join('\n')).toMatch(message));
  });
});

describe('the ClusterServiceVersion', () => {
  it('has the rights of the chart, and no others', () => {
    const { clusterPermissions, permissions } = csv.spec.install.spec;
    const of = (account: string, ...names: string[]): object => {
      const roles = names.map((name) => rendered.find(({ kind, metadata }) => `${kind} ${metadata.name}` === name)!);
      return { serviceAccountName: account, rules: roles.flatMap(({ rules }) => rules) };
    };
    const release = 'traffic-operator-system-traffic-operator';
    const [operator, weights] = ['traffic-operator', 'traffic-operator-weights'];
    expect(clusterPermissions).toEqual([
      of(operator, `ClusterRole ${release}`),
      of(weights, `ClusterRole ${release}-weights`),
    ]);
    expect(permissions).toEqual([of(operator, `Role ${operator}`), of(weights, `Role ${weights}`)]);
  });

  it('has the Deployment of the chart without IDs, with its flags as variables that a Subscription can replace', () => {
    const { spec } = ofChart('Deployment') as V1Deployment;
    const expected = spec!.template.spec!.containers[0]!;
    const container = containerOf(csv.spec);
    expect(flagsOf(container)).toEqual(flagsOf(expected));
    expect(container.args).toEqual([
      'manager',
      '--namespace=traffic-operator-system',
      '--leader-elect',
      '--health-probe-bind-address=:8081',
      '--metrics-bind-address=:8080',
    ]);
    const rest = (deployment: V1Deployment['spec'], one: V1Container): object => {
      const { template, ...of } = deployment!;
      const fields = { ...one, args: undefined, env: undefined };
      return [of, template.metadata, { ...template.spec, containers: [fields] }];
    };
    expect(rest(csv.spec.install.spec.deployments[0]!.spec, container)).toEqual(withoutIds(rest(spec, expected)));
  });

  it('has the Deployment for DNS weights, with its account', () => {
    const [, { name, spec }] = csv.spec.install.spec.deployments as [
      unknown,
      { name: string; spec: V1Deployment['spec'] },
    ];
    const { serviceAccountName, containers } = spec!.template.spec!;
    expect([name, serviceAccountName, containers[0]!.args?.[0]]).toEqual([
      'traffic-operator-weights',
      'traffic-operator-weights',
      'trafficweights',
    ]);
  });

  it('has a pod that restricted-v2 of OpenShift admits: it may not name IDs, which a Subscription cannot remove', () => {
    const pod = podOf(csv.spec);
    expect(fixedIds(pod)).toEqual([]);
    expect(refusals(pod, RESTRICTED_V2)).toEqual([]);
    expect(fixedIds((ofChart('Deployment') as V1Deployment).spec!.template.spec!)).toHaveLength(3);
    // Elsewhere nobody assigns an ID. The image has one, which is a number (image/image).
    expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  });

  it('has every image that the flags name', () => {
    const images = [...flagsOf(containerOf(csv.spec)).values()].filter((value) => value.startsWith('quay.io/'));
    expect(images).toHaveLength(2);
    const related = csv.spec.relatedImages.map(({ image }) => image);
    expect(related.sort()).toEqual([containerOf(csv.spec).image, ...images].sort());
  });

  it.each(csv.spec.customresourcedefinitions.owned.map((owned) => [owned.kind, owned] as const))(
    'describes each field of a %s',
    (_kind, { name, specDescriptors, statusDescriptors }) => {
      const crd = manifestsOf(BUNDLE).find(({ metadata }) => metadata.name === name) as never as Crd;
      const { spec, status } = crd.spec.versions[0].schema.openAPIV3Schema.properties;
      for (const [schema, found] of [
        [spec, specDescriptors],
        [status, statusDescriptors],
      ] as const) {
        expect(found.map(({ path }) => path).sort()).toEqual(pathsOf(schema ?? {}).sort());
        expect(
          found.filter(({ description, displayName }) => !/[.:]$/.test(description) || displayName === ''),
        ).toEqual([]);
      }
    },
  );

  it('is upgraded to from every earlier version', () => {
    expect(csv.metadata.annotations['olm.skipRange']).toBe(`<${csv.spec.version}`);
    expect(csv.metadata.name).toBe(`traffic-operator.v${csv.spec.version}`);
  });

  it('watches all namespaces, and no other mode is offered', () => {
    expect(csv.spec.installModes.filter(({ supported }) => supported).map(({ type }) => type)).toEqual([
      'AllNamespaces',
    ]);
  });
});

it('the objects that OLM can not create are in deploy/olm, and each object of the chart is in one of both', () => {
  const kinds = (objects: Manifest[]): string[] => objects.map(({ kind }) => kind).sort();
  // Of the manager, and of the process for DNS weights.
  const ofCsv = ['ClusterRole', 'ClusterRoleBinding', 'Deployment', 'Role', 'RoleBinding', 'ServiceAccount'].flatMap(
    (kind) => [kind, kind],
  );
  const ofBundle = manifestsOf(BUNDLE).filter(({ kind }) => !/^(ClusterServiceVersion|CustomResource)/.test(kind));
  const policies = read(join(DEPLOY, 'olm', 'policies.yaml'));
  expect(kinds(ofBundle)).toEqual(['PodDisruptionBudget', 'PodDisruptionBudget', 'Service', 'Service']);
  expect([...kinds(ofBundle), ...kinds(policies), ...ofCsv].sort()).toEqual(kinds(rendered));
  expect(ofBundle.map(({ metadata }) => metadata.namespace)).toEqual(ofBundle.map(() => undefined));
});

it('the CRDs are the CRDs of deploy/, of all kinds of the operator', () => {
  const crds = manifestsOf(BUNDLE).filter(({ kind }) => kind === 'CustomResourceDefinition');
  const names = crds.map(({ metadata }) => metadata.name).sort();
  expect(names).toEqual(
    ['connectivitychecks', 'podplacements', 'trafficstacks', 'trafficwatches', 'trafficweights'].map(
      (one) => `${one}.traffic.example.com`,
    ),
  );
  for (const name of names) {
    const [plural, ...group] = name.split('.');
    const file = join(DEPLOY, 'crds', `${group.join('.')}_${plural!}.yaml`);
    expect(crds).toContainEqual(read(file)[0]);
  }
});

it('the image of the bundle has the labels that the annotations of its folder have', () => {
  const { annotations } = read(join(BUNDLE, 'metadata', 'annotations.yaml'))[0] as never as {
    annotations: Record<string, string>;
  };
  const labels = [...readFileSync(join(BUNDLE, 'Dockerfile'), 'utf8').matchAll(/^LABEL (.+?)=(.+)$/gm)];
  expect(Object.fromEntries(labels.map(([, key, value]) => [key, value]))).toEqual(annotations);
});

interface Crd {
  spec: {
    versions: [
      { schema: { openAPIV3Schema: { properties: { spec: V1JSONSchemaProps; status?: V1JSONSchemaProps } } } },
    ];
  };
}

function podOf(spec: typeof csv.spec): V1PodSpec {
  return spec.install.spec.deployments[0]!.spec!.template.spec!;
}

function containerOf(spec: typeof csv.spec): V1Container {
  return podOf(spec).containers[0]!;
}

/** The value of each flag, from the arguments and from the variables. */
function flagsOf({ args = [], env = [] }: V1Container): Map<string, string> {
  const pairs = args.map((arg) => /^--([^=]+)(?:=(.*))?$/.exec(arg)).filter((match) => match !== null);
  const variables = env.filter(({ name }) => name.startsWith('TRAFFIC_OPERATOR_'));
  const flagName = (name: string): string => name.slice('TRAFFIC_OPERATOR_'.length).toLowerCase().replaceAll('_', '-');
  return new Map([
    ...pairs.map(([, name = '', value = '']) => [name, value] as const).filter(([name]) => name !== 'namespace'),
    ...variables.map(({ name, value = '' }) => [flagName(name), value] as const),
  ]);
}

/** The path of each field below a schema, in the notation of descriptors. */
function pathsOf(schema: V1JSONSchemaProps, above = ''): Descriptor['path'][] {
  return Object.entries(schema.properties ?? {}).flatMap(([field, child]) => {
    const path = `${above}${field}`;
    if (FOREIGN.includes(field)) return [path];
    const { items } = child as { items?: V1JSONSchemaProps };
    return [path, ...pathsOf(child, `${path}.`), ...(items ? pathsOf(items, `${path}[0].`) : [])];
  });
}
