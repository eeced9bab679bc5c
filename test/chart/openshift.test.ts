import type { V1PodSpec } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { helmTemplate, type Manifest } from '../../scripts/chart/helm.ts';
import { defaultConnectivityOptions } from '../../src/connectivity/objects/names.ts';
import { allComponents as connectivityComponents } from '../../src/controllers/connectivity/components/components.ts';
import { allComponents } from '../../src/controllers/measurement/components/components.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';
import { fixedIds, HOSTNETWORK_V2, refusals, RESTRICTED_V2, usedBy, type Constraints } from './constraints.ts';
import { find, podOf } from './rendered.ts';
import { withoutIds } from './withoutIds.ts';

const NAMESPACE = 'traffic-operator-system';
const SERVED = '--api-versions=security.openshift.io/v1/SecurityContextConstraints';
const CONNECTIVITY = ['--set', 'connectivity.enabled=true'];
const SCC = 'SecurityContextConstraints';
const USER = `system:serviceaccount:${NAMESPACE}`;

interface PodMaker {
  metadata: { name: string; namespace?: string };
  spec?: { template?: { spec: V1PodSpec } };
}

type ConstraintsObject = Manifest & Constraints & { users: string[] };

/** The objects that the operator deploys. */
function deployed(openshift: boolean): object[] {
  return [
    ...allComponents({ ...defaultMeasurementOptions(NAMESPACE), openshift }),
    ...connectivityComponents({ ...defaultConnectivityOptions(NAMESPACE), openshift }),
  ].map(({ object }) => object);
}

/** The pods of the release and of the operator, by name. */
function podsOf(objects: readonly object[]): [string, V1PodSpec][] {
  return (objects as PodMaker[]).flatMap(({ metadata, spec }) =>
    spec?.template === undefined ? [] : [[metadata.name, spec.template.spec] as [string, V1PodSpec]],
  );
}

function constraints(...args: readonly string[]): ConstraintsObject[] {
  return helmTemplate(SERVED, ...args).filter(({ kind }) => kind === SCC) as ConstraintsObject[];
}

const ELSEWHERE = helmTemplate(...CONNECTIVITY);
const HERE = helmTemplate(SERVED, ...CONNECTIVITY);
const PODS_ELSEWHERE = new Map(podsOf([...ELSEWHERE, ...deployed(false)]));
const PODS = podsOf([...HERE, ...deployed(true)]);
const IN_THE_NETWORK_OF_THE_NODE = [
  ['node-exporter', 'node-exporter', 'node-exporter:node-exporter'],
  ['netchecker-agent-hostnet', 'connectivity-agents', 'connectivity:netchecker-agent'],
] as const;

describe('on OpenShift', () => {
  it('all pods are looked at', () => {
    expect(PODS.map(([name]) => name).sort()).toEqual([
      'netchecker-agent',
      'netchecker-agent-hostnet',
      'netchecker-server',
      'node-exporter',
      'prometheus',
      'traffic-operator',
      'traffic-operator-cleanup',
    ]);
  });

  it.each(PODS)('the pod of %s has no fixed IDs, which it has elsewhere', (name, pod) => {
    expect(fixedIds(pod)).toEqual([]);
    const elsewhere = PODS_ELSEWHERE.get(name)!;
    expect(fixedIds(elsewhere)).toEqual(expect.arrayContaining(['runAsUser', 'runAsGroup']));
    expect(refusals(elsewhere, HOSTNETWORK_V2)).toEqual(fixedIds(elsewhere));
  });

  it('nothing else of what the operator deploys is different', () => {
    expect(deployed(true)).toEqual(withoutIds(deployed(false)));
  });

  it('nothing else of the release is different but the flag, the port of node-exporter and the SCCs', () => {
    const text = JSON.stringify(HERE.filter(({ kind }) => kind !== SCC));
    const elsewhere = text.replace('"--openshift=true",', '').replace('-exporter-port=9890"', '-exporter-port=9100"');
    expect(JSON.parse(elsewhere)).toEqual(withoutIds(ELSEWHERE));
    expect(text).toContain('"--openshift=true",');
  });

  it.each(PODS)('the pod of %s is accepted by restricted-v2, or by hostnetwork-v2 where it measures', (name, pod) => {
    const isOnTheNode = IN_THE_NETWORK_OF_THE_NODE.some(([each]) => each === name);
    expect(refusals(pod, RESTRICTED_V2)).toEqual(isOnTheNode ? ['allowHostNetwork', 'allowHostPorts'] : []);
    expect(refusals(pod, HOSTNETWORK_V2)).toEqual([]);
  });
});

it.each([
  ['9890, next to the exporter of the cluster', 'openshift.enabled=true', '9890'],
  ['another port on request', 'openshift.enabled=true,nodeExporter.port=9200', '9200'],
  ['9100 elsewhere', 'openshift.enabled=false', '9100'],
])('the port of node-exporter is %s', (_what, values, port) => {
  const [container] = podOf(find(helmTemplate('--set', values), 'Deployment')).containers;
  expect(container.args).toContain(`--node-exporter-port=${port}`);
});

describe('the SecurityContextConstraints', () => {
  const STACKS = 'stacks.enabled=true';

  it.each(IN_THE_NETWORK_OF_THE_NODE)('of %s allow what its pod uses, and nothing else', (name, suffix, account) => {
    const pod = new Map(PODS).get(name)!;
    const scc = constraints(...CONNECTIVITY).find(({ metadata }) => metadata.name.endsWith(suffix))!;
    const { apiVersion, kind, metadata, ...rules } = scc;
    expect({ apiVersion, kind }).toEqual({ apiVersion: 'security.openshift.io/v1', kind: SCC });
    expect(metadata.name).toBe(`${NAMESPACE}-traffic-operator-${suffix}`);
    // Of the pod: the rest are defaults, which nobody is to widen, and strategies that assign what the namespace has.
    expect(rules).toEqual({
      ...usedBy(pod),
      users: [`${USER}-${account}`],
      groups: [],
      priority: 0,
      defaultAddCapabilities: [],
      runAsUser: { type: 'MustRunAsRange' },
      seLinuxContext: { type: 'MustRunAs' },
      fsGroup: { type: 'MustRunAs' },
      supplementalGroups: { type: 'MustRunAs' },
    });
    expect(refusals(pod, scc)).toEqual([]);
  });

  it.each<[string, string[], string[]]>([
    ['node-exporter alone by default', [], ['node-exporter']],
    ['node-exporter with stacks of users', [STACKS], ['node-exporter']],
    ['none with an existing Prometheus', ['prometheus.url=http://p'], []],
    ['also node-exporter on request', ['prometheus.url=http://p', 'nodeExporter.enabled=true'], ['node-exporter']],
    ['none without node-exporter', ['nodeExporter.enabled=false'], []],
    [
      'node-exporter with stacks and an existing Prometheus, for a stack that has it',
      [STACKS, 'prometheus.url=http://p'],
      ['node-exporter'],
    ],
    [
      'node-exporter with stacks, for a stack that has it in spite of the flag',
      [STACKS, 'nodeExporter.enabled=false'],
      ['node-exporter'],
    ],
    [
      'agents alone with an existing Prometheus',
      ['prometheus.url=http://p', 'connectivity.enabled=true'],
      ['connectivity-agents'],
    ],
    ['none where the chart makes no rights', ['rbac.create=false'], []],
    ['none where OpenShift is off', ['openshift.enabled=false'], []],
  ])('are of %s', (_what, values, names) => {
    const found = constraints(...values.flatMap((value) => ['--set', value]));
    expect(found.map(({ metadata }) => metadata.name)).toEqual(names.map((n) => `${NAMESPACE}-traffic-operator-${n}`));
  });

  it('are there on request where no cluster is asked, and not otherwise', () => {
    const kinds = (...args: string[]): string[] => helmTemplate(...args).map(({ kind }) => kind);
    expect(kinds('--set', 'openshift.enabled=true')).toContain(SCC);
    expect(kinds()).not.toContain(SCC);
  });
});
