import type { V1MutatingWebhookConfiguration } from '@kubernetes/client-node';
import { GROUP } from '../../../../api/group.ts';
import { POD_PLACEMENTS } from '../../../../api/podplacement/schema.ts';
import { TRAFFIC_WATCHES } from '../../../../api/trafficwatch/schema.ts';
import { Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { Client } from '../../../../runtime/client/client.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import { isForbidden, isNotFound } from '../../../../runtime/client/errors.ts';
import type { PolicyState } from '../observation.ts';
import {
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  MUTATING_WEBHOOKS,
  type MutatingAdmissionPolicy,
} from '../../../../runtime/client/resources.ts';
import { Answers } from './answers.ts';
import { findWebhook, isWebhookReady, webhookState, type FoundWebhook } from './webhookCheck.ts';

/** How long an answer is used before the policies are read again: ms. */
const FRESH_MS = 60_000;
/** The same while the policy is missing, or a webhook is there instead, which gets further namespaces. */
const MISSING_FRESH_MS = 5_000;
/** How long after the last question the webhook counts as in use: ms. Each pass asks for TrafficWatches with targetRef or podSelector. */
const IN_USE_MS = 600_000;

const INSTALLED: PolicyState = { reason: Reason.PolicyInstalled, message: '' };
const OUTDATED: PolicyState = { ...INSTALLED, isOutdated: true };
const NOT_SERVED: PolicyState = {
  reason: Reason.PolicyNotServed,
  message:
    'the API server does not serve MutatingAdmissionPolicy (admissionregistration.k8s.io/v1), which needs Kubernetes 1.36, and no admission webhook is installed: install it with helm (placementWebhook.enabled=true)',
};
const MISSING: PolicyState = {
  reason: Reason.PolicyMissing,
  message:
    'no MutatingAdmissionPolicy with PodPlacement as its parameter kind is installed and bound: install it with helm ' +
    '(placementPolicy.enabled=true) or kubectl apply -k deploy/placement',
};

const NOT_ANSWERED: PolicyState = {
  reason: Reason.PolicyUnreadable,
  message: 'whether the admission policy is installed is not read yet: the API server has not answered',
};

interface Found {
  readonly policy: PolicyState;
  /** Looked for only without a policy. */
  readonly webhook?: FoundWebhook | undefined;
}

/**
 * Finds out whether the admission policy is installed: any policy with our parameter kind that has a binding; and without it,
 * whether the admission webhook is. Asks the API server at most once a minute, or every 5 s without the policy, and only when it
 * is asked.
 */
export class PolicyCheck {
  readonly #client: Pick<Client, 'list'>;
  readonly #clock: Clock;
  readonly #answers: Answers<Found>;

  constructor(o: { client: Pick<Client, 'list'>; clock: Clock }) {
    this.#client = o.client;
    this.#clock = o.clock;
    const freshMs = ({ policy }: Found): number =>
      policy.reason === Reason.PolicyInstalled ? FRESH_MS : MISSING_FRESH_MS;
    this.#answers = new Answers({ clock: o.clock, freshMs });
  }

  /**
   * Returns what gives the pods of a namespace the node affinity. Throws nothing: a failed request gives PolicyUnreadable. A slow answer
   * delays a reconcile by a second at most: see Answers.
   */
  async state(namespace: string): Promise<PolicyState> {
    const found = await this.#answers.of('', () => this.#look());
    if (found === undefined) return NOT_ANSWERED;
    return found.webhook === undefined ? found.policy : webhookState(found.webhook, namespace);
  }

  /** Whether the webhook is ready; undefined if there is none, the policy is there instead, or nobody has asked for it lately. */
  webhookReady(): boolean | undefined {
    const { answer, at = 0 } = this.#answers.last('') ?? {};
    if (answer?.webhook === undefined || this.#clock.monotonic() - at > IN_USE_MS) return undefined;
    return isWebhookReady(answer.webhook);
  }

  async #look(): Promise<Found> {
    try {
      const policy = await this.#policy();
      if (policy.reason === Reason.PolicyInstalled) return { policy };
      return await this.#orWebhook(policy);
    } catch (error) {
      const message = `whether the admission policy or webhook is installed cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`;
      return { policy: { reason: Reason.PolicyUnreadable, message } };
    }
  }

  /** Rights that were granted for an older version lack the one to list webhooks: what is known about the policy stays. */
  async #orWebhook(policy: PolicyState): Promise<Found> {
    let configurations: readonly V1MutatingWebhookConfiguration[];
    try {
      configurations = await this.#client.list(MUTATING_WEBHOOKS);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const message = `${policy.message}; whether the admission webhook is installed cannot be read: ${error.message}`;
      return { policy: { ...policy, message } };
    }
    return { policy, webhook: await findWebhook(this.#client, configurations) };
  }

  async #policy(): Promise<PolicyState> {
    try {
      const [policies, bindings] = await Promise.all([
        this.#client.list(MUTATING_POLICIES),
        this.#client.list(MUTATING_POLICY_BINDINGS),
      ]);
      const bound = new Set(bindings.map(({ spec }) => spec?.policyName));
      const active = policies.filter((policy) => bound.has(policy.metadata?.name));
      if (active.some((policy) => reads(policy, POD_PLACEMENTS.kind))) return INSTALLED;
      return active.some((policy) => reads(policy, TRAFFIC_WATCHES.kind)) ? OUTDATED : MISSING;
    } catch (error) {
      if (isNotFound(error)) return NOT_SERVED;
      throw error;
    }
  }
}

/** Whether the parameters of the policy are of this kind of the operator. */
function reads({ spec }: MutatingAdmissionPolicy, parameterKind: string): boolean {
  const { apiVersion = '', kind } = spec?.paramKind ?? {};
  return kind === parameterKind && apiVersion.startsWith(`${GROUP}/`);
}
