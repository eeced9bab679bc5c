import { z } from 'zod';
import { dnsLabel } from './shapes.ts';

export const nodePolicy = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Reject every change of a Node with the tokens of the operator and the clean-up, except changes of the label keys of the operator.',
      ),
  })
  .prefault({})
  .describe('ValidatingAdmissionPolicy for Nodes; RBAC cannot restrict access to single fields.');

export const requesterPolicy = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Refuse a TrafficWatch with spec.deployment, a TrafficStack or a TrafficWeight of users who may not write Deployments or DNSEndpoints themselves, and DNSEndpoints of users that look like the operator made them.',
      ),
  })
  .prefault({})
  .describe('ValidatingAdmissionPolicies for what the operator writes on behalf of users, with its own rights.');

export const ownObjectsPolicy = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Reject updates and deletions with the tokens of the operator and the clean-up of objects that the operator did not make.',
      ),
    protectedNamespaces: z
      .array(dnsLabel)
      .default(['kube-system'])
      .describe(
        'Namespaces in which these accounts may create nothing but DNSEndpoints. New objects of TrafficWatches with spec.deployment and of TrafficStacks are refused there. The namespace of the release is never one of them.',
      ),
  })
  .prefault({})
  .describe('ValidatingAdmissionPolicy for what the operator may update and delete; RBAC cannot select by label.');

export const placementPolicy = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Install the policy if the cluster serves it (Kubernetes 1.36 and newer). TrafficWatches with targetRef or podSelector need it.',
      ),
  })
  .prefault({})
  .describe('MutatingAdmissionPolicy that adds the node affinity to pods of workloads that the operator does not own.');
