import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { whyNotRemoved } from './command.ts';

const aDeployment = (release?: string): KubeObject => ({
  metadata: {
    namespace: 'network',
    name: 'traffic-operator',
    annotations: release === undefined ? {} : { 'meta.helm.sh/release-name': release },
  },
});
const aJob = (manager: string, annotations = {}): KubeObject => ({
  metadata: { annotations, managedFields: [{ manager: 'k8s-controller' }, { manager, operation: 'Update' }] },
});
const APPLIED = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };

describe('whyNotRemoved', () => {
  it.each<[why: string, deployment: KubeObject | undefined, job: KubeObject | undefined]>([
    ['helm installed the release', aDeployment('net'), aJob('helm')],
    ['a program with the library of helm installed it', aDeployment('net'), aJob('terraform-provider-helm_v2')],
    ['the Deployment is gone already', undefined, aJob('helm')],
    ['the Job cannot be seen', aDeployment('net'), undefined],
  ])('finds nothing if %s', (_why, deployment, job) => {
    expect(whyNotRemoved('net', { deployment, job })).toBeUndefined();
  });

  it.each<[why: string, deployment: KubeObject | undefined, job: KubeObject | undefined, expected: string]>([
    ['of kubectl', aDeployment(), aJob('kubectl-client-side-apply', APPLIED), 'applied by kubectl-client-side-apply'],
    ['of kubectl before managedFields', aDeployment(), { metadata: { annotations: APPLIED } }, 'applied by kubectl,'],
    ['over a release of helm', aDeployment('net'), aJob('kubectl'), 'the Job was applied by kubectl, not by helm'],
    ['without its Deployment', undefined, aJob('argocd-controller'), 'applied by argocd-controller'],
    [
      'of another program',
      aDeployment(),
      aJob('pulumi'),
      'Deployment network/traffic-operator was not installed by helm',
    ],
    ['of another release', aDeployment('other'), aJob('helm'), 'belongs to the release other of helm, not to net'],
  ])('says that rendered manifests were applied: %s', (_why, deployment, job, expected) => {
    expect(whyNotRemoved('net', { deployment, job })).toContain(expected);
  });
});
