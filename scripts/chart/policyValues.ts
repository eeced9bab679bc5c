import { z } from 'zod';
import { accountName, anyMap, dnsLabel } from './shapes.ts';

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

export const placementWebhook = z
  .strictObject({
    enabled: z
      .union([z.boolean(), z.literal('auto')])
      .default(false)
      .describe(
        'Install an admission webhook that does what the placement policy does; auto: if the cluster does not serve the policy (Kubernetes before 1.36). Needs Kubernetes 1.30. With both, pods get each term once.',
      ),
    replicas: z.int().min(0).max(10).default(2).describe('Number of its pods.'),
    serviceAccount: z
      .strictObject({
        name: accountName('placement'),
      })
      .prefault({})
      .describe('Its ServiceAccount.'),
    clientCaConfigMap: z
      .strictObject({
        name: z
          .string()
          .default('')
          .describe(
            'Name of a ConfigMap in the namespace of the release; empty: every client is answered. The API server shows a certificate only if --admission-control-config-file says so.',
          ),
        key: z.string().default('ca.crt').describe('Its key with the CAs, PEM.'),
      })
      .prefault({})
      .describe('CAs of the client certificate that the API server shows to webhooks. Other clients are refused.'),
    resources: anyMap
      .default({ requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '384Mi' } })
      .describe('Requests and limits of its container.'),
    extraArgs: z.array(z.string()).default([]).describe('Additional arguments of its container, such as --url.'),
  })
  .prefault({})
  .describe('Admission webhook that adds the node affinity to pods where the placement policy is not served.');
