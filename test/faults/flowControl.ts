import type { Client } from '../../src/runtime/client/client.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';

/** API priority and fairness, as far as tests write it. */
export interface FlowControl extends KubeObject {
  spec: unknown;
}
const FLOW_CONTROL = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', namespaced: false };
const LEVELS: Resource<FlowControl> = {
  ...FLOW_CONTROL,
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
};
export const SCHEMAS: Resource<FlowControl> = { ...FLOW_CONTROL, kind: 'FlowSchema', plural: 'flowschemas' };

/** Whose requests a FlowSchema takes. */
export type FlowSubject =
  | { kind: 'ServiceAccount'; serviceAccount: { namespace: string; name: string } }
  | { kind: 'Group'; group: { name: string } };

/** A priority level that lends and borrows nothing. */
export interface Level {
  name: string;
  /** Its part of the seats of the whole API server, relative to the other levels' shares; 0 is none at all. */
  shares: number;
  limitResponse:
    { type: 'Reject' } | { type: 'Queue'; queuing: { queues: number; handSize: number; queueLengthLimit: number } };
}

/**
 * Makes the level, and a FlowSchema of its name that sends the subjects' requests of these API groups there, before the
 * one of all service accounts (9000), and behind what is installed for the lease.
 */
export async function putInto(
  client: Client,
  { name, shares, limitResponse }: Level,
  subjects: readonly FlowSubject[],
  apiGroups: readonly string[],
): Promise<void> {
  const limited = { nominalConcurrencyShares: shares, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse };
  await client.create(LEVELS, { metadata: { name }, spec: { type: 'Limited', limited } });
  const all = { verbs: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };
  const rules = [{ subjects, resourceRules: [{ ...all, apiGroups }] }];
  const distinguisherMethod = { type: 'ByUser' };
  const spec = { priorityLevelConfiguration: { name }, matchingPrecedence: 8_000, distinguisherMethod, rules };
  await client.create(SCHEMAS, { metadata: { name }, spec });
}

/** Lets them go where they would go without it. */
export async function takeOut(client: Client, { name }: Level): Promise<void> {
  await client.delete(SCHEMAS, { name });
  await client.delete(LEVELS, { name });
}
