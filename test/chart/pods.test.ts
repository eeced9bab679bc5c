import type { V1PodSpec, V1ServiceAccount } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { helmTemplate } from '../../scripts/chart/helm.ts';
import { allComponents } from '../../src/controllers/measurement/components/components.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';

/** Of every pod that comes with the project, what docs/security.md says of it, and Pod Security does not look at. */
interface PodMaker {
  kind: string;
  metadata: { name: string };
  spec?: { template?: { spec: V1PodSpec } };
}

const OBJECTS = [
  ...helmTemplate(),
  ...allComponents(defaultMeasurementOptions('traffic-operator-system')).map(({ object }) => object),
] as unknown as (PodMaker & V1ServiceAccount)[];
const PODS = OBJECTS.flatMap(({ metadata, spec }) =>
  spec?.template === undefined ? [] : [[metadata.name, spec.template.spec] as const],
);
/** The clean-up asks the API server too; the two that measure never do. */
const ASK_THE_API_SERVER = ['traffic-operator', 'traffic-operator-cleanup'];

it('all pods are looked at', () => {
  expect(PODS.map(([name]) => name).sort()).toEqual([
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
      hostNetwork: name === 'node-exporter',
      hostPID: false,
      hostIPC: false,
    });
  });

  it('has a ServiceAccount of its own, whose token is mounted where it is used and nowhere else', () => {
    expect(pod.serviceAccountName).toBe(name);
    expect(pod.automountServiceAccountToken).toBe(ASK_THE_API_SERVER.includes(name));
    const account = OBJECTS.find(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === name);
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
