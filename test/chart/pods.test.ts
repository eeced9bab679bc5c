import type { V1PodSpec, V1RoleBinding, V1ServiceAccount } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { helmTemplate } from '../../scripts/chart/helm.ts';
import { defaultConnectivityOptions } from '../../src/connectivity/objects/names.ts';
import { connectivityObjects } from '../../src/connectivity/objects/objects.ts';
import { allComponents as connectivityComponents } from '../../src/controllers/connectivity/components/components.ts';
import { allComponents } from '../../src/controllers/measurement/components/components.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';

/** Checks every pod of the project for the statements of docs/security.md that Pod Security does not check. */
interface PodMaker {
  kind: string;
  metadata: { name: string };
  spec?: { template?: { spec: V1PodSpec } };
}

const NAMESPACE = 'traffic-operator-system';
const OBJECTS = [
  ...helmTemplate('--set', 'connectivity.enabled=true'),
  ...allComponents(defaultMeasurementOptions(NAMESPACE)).map(({ object }) => object),
  ...connectivityComponents(defaultConnectivityOptions(NAMESPACE)).map(({ object }) => object),
] as unknown as (PodMaker & V1ServiceAccount)[];
const PODS = OBJECTS.flatMap(({ metadata, spec }) =>
  spec?.template === undefined ? [] : [[metadata.name, spec.template.spec] as const],
);
/** The clean-up asks the API server too; those that measure never do. */
const ASK_THE_API_SERVER = ['traffic-operator', 'traffic-operator-cleanup', 'netchecker-server'];
/** The pods in the network of their node. */
const MEASURE_THE_NODE = ['node-exporter', 'netchecker-agent-hostnet'];

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

describe.each(PODS)('the pod of %s', (name, pod) => {
  it('runs as nobody, without capabilities, and writes nowhere but into volumes of its own', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.securityContext?.runAsUser).toBeGreaterThan(1000);
    expect(pod.containers.map(({ securityContext }) => securityContext)).toEqual([
      { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
    ]);
    expect([...(pod.initContainers ?? []), ...(pod.volumes ?? []).filter(({ hostPath }) => hostPath)]).toEqual([]);
  });

  it('shares nothing with its node but, where it measures, the network', () => {
    const { hostNetwork = false, hostPID = false, hostIPC = false } = pod;
    expect({ hostNetwork, hostPID, hostIPC }).toEqual({
      hostNetwork: MEASURE_THE_NODE.includes(name),
      hostPID: false,
      hostIPC: false,
    });
  });

  it('has a ServiceAccount of its own, whose token is mounted where it is used and nowhere else', () => {
    const owner = name.replace('-hostnet', '');
    expect(pod.serviceAccountName).toBe(owner);
    expect(pod.automountServiceAccountToken).toBe(ASK_THE_API_SERVER.includes(name));
    const account = OBJECTS.find(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === owner);
    expect(account?.automountServiceAccountToken).toBe(false);
  });

  it('has no secret in its environment', () => {
    const sources = pod.containers.flatMap(({ env = [], envFrom = [] }) => [
      ...env.map((e) => e.valueFrom),
      ...envFrom,
    ]);
    expect(sources.filter((source) => JSON.stringify(source ?? {}).includes('secret'))).toEqual([]);
  });
});

it('no role is bound to the agents of the connectivity check', () => {
  const bindings = [...OBJECTS, ...connectivityObjects(defaultConnectivityOptions(NAMESPACE))].filter(({ kind = '' }) =>
    kind.endsWith('Binding'),
  ) as unknown as V1RoleBinding[];
  const accounts = bindings.flatMap(({ subjects = [] }) => subjects.map(({ name }) => name));
  expect(accounts).toContain('netchecker-server');
  expect(accounts).not.toContain('netchecker-agent');
});
