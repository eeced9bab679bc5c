import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { Client } from '../../src/runtime/client/client.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';

const FILE = fileURLToPath(new URL('../../deploy/placement/policy.yaml', import.meta.url));
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;

export const POLICIES: Resource = {
  ...ADMISSION,
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
};
export const BINDINGS: Resource = {
  ...ADMISSION,
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
};

/** The policy and its binding, as `kubectl apply -k deploy/placement` installs them. */
export function placementPolicy(): { policy: KubeObject; binding: KubeObject } {
  const [policy, binding] = parseAllDocuments(readFileSync(FILE, 'utf8')).map((one) => one.toJS() as KubeObject);
  return { policy: policy!, binding: binding! };
}

/** Installs both. The API server uses them about a second later. */
export async function installPlacementPolicy(client: Client): Promise<void> {
  const { policy, binding } = placementPolicy();
  await client.create(POLICIES, policy);
  await client.create(BINDINGS, binding);
}
