import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { Client } from '../../src/runtime/client/client.ts';
import type { KubeObject } from '../../src/runtime/client/resource.ts';
import { MUTATING_POLICIES, MUTATING_POLICY_BINDINGS } from '../../src/runtime/client/resources.ts';

const FILE = fileURLToPath(new URL('../../deploy/placement/policy.yaml', import.meta.url));
/** The policy and its binding, as `kubectl apply -k deploy/placement` installs them. */
export function placementPolicy(): { policy: KubeObject; binding: KubeObject } {
  const [policy, binding] = parseAllDocuments(readFileSync(FILE, 'utf8')).map((one) => one.toJS() as KubeObject);
  return { policy: policy!, binding: binding! };
}

/** Installs both. The API server uses them about a second later. */
export async function installPlacementPolicy(client: Client): Promise<void> {
  const { policy, binding } = placementPolicy();
  await client.create(MUTATING_POLICIES, policy);
  await client.create(MUTATING_POLICY_BINDINGS, binding);
}
