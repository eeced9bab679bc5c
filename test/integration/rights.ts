import type { V1PolicyRule } from '@kubernetes/client-node';
import { expect, vi } from 'vitest';
import type { Client } from '../../src/runtime/client/client.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';

interface Review extends KubeObject {
  spec: { user: string; resourceAttributes: object };
  status?: { allowed: boolean };
}

const REVIEWS: Resource<Review> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

/**
 * Resolves once the API server lets a user do what a rule says, or no longer: it learns of RBAC objects by watches of its
 * own, a little after they were written.
 *
 * @param namespace where a Role gives it; without one, in all of them
 */
export async function whenAllowed(
  client: Client,
  user: string,
  { verbs, apiGroups, resources, resourceNames }: V1PolicyRule,
  options: { namespace?: string; allowed?: boolean } = {},
): Promise<void> {
  const [resource, subresource] = (resources?.[0] ?? '').split('/');
  const what = { verb: verbs[0], group: apiGroups?.[0], resource, subresource, name: resourceNames?.[0] };
  const spec = { user, resourceAttributes: { ...what, namespace: options.namespace } };
  await vi.waitFor(
    async () => {
      const { status } = await client.create(REVIEWS, { metadata: {}, spec });
      expect(status?.allowed).toBe(options.allowed ?? true);
    },
    { timeout: 90_000, interval: 20 },
  );
}
