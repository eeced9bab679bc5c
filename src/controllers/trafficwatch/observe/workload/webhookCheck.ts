import type { V1EndpointSlice, V1MutatingWebhook, V1MutatingWebhookConfiguration } from '@kubernetes/client-node';
import { hasNamespace, PLACEMENT_WEBHOOK, SYSTEM_NAMESPACE } from '../../../../api/podplacement/webhook.ts';
import { Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { Client } from '../../../../runtime/client/client.ts';
import { ENDPOINT_SLICES, SERVICE_NAME_LABEL } from '../../../../runtime/client/resources.ts';
import type { PolicyState } from '../observation.ts';

/** The admission webhook as the API server has it. */
export interface FoundWebhook {
  readonly webhook: V1MutatingWebhook;
  /** Whether its Service has an endpoint that is ready; true for a webhook at a URL, of which nothing is known. */
  readonly hasEndpoint: boolean;
}

/** Returns undefined if no configuration has the webhook. @throws ApiError, TransportError */
export async function findWebhook(
  client: Pick<Client, 'list'>,
  configurations: readonly V1MutatingWebhookConfiguration[],
): Promise<FoundWebhook | undefined> {
  const webhook = configurations
    .flatMap(({ webhooks = [] }) => webhooks)
    .find(({ name }) => name === PLACEMENT_WEBHOOK);
  if (webhook === undefined) return undefined;
  const { service } = webhook.clientConfig;
  if (service === undefined) return { webhook, hasEndpoint: true };
  const labelSelector = `${SERVICE_NAME_LABEL}=${service.name}`;
  const slices = await client.list(ENDPOINT_SLICES, { namespace: service.namespace, labelSelector });
  return { webhook, hasEndpoint: slices.some(isReady) };
}

/** Whether the API server can call the webhook at all. */
export function isWebhookReady({ webhook, hasEndpoint }: FoundWebhook): boolean {
  return Boolean(webhook.clientConfig.caBundle) && hasEndpoint;
}

/** The endpoints of a Service without pods are null, not an empty list. */
function isReady({ endpoints }: V1EndpointSlice): boolean {
  return (endpoints ?? []).some(({ conditions }) => conditions?.ready === true);
}

/**
 * Returns what the webhook does for the pods of a namespace.
 *
 * | webhook                                          | reason           |
 * |--------------------------------------------------|------------------|
 * | without certificate, or without a ready endpoint | WebhookNotReady  |
 * | of a namespace that it never gets                | WebhookNotReady  |
 * | does not get the namespace yet                   | PlacementPending |
 * | other                                            | WebhookInstalled |
 */
export function webhookState({ webhook, hasEndpoint }: FoundWebhook, namespace: string): PolicyState {
  const { service, caBundle } = webhook.clientConfig;
  const notReady = (message: string): PolicyState => ({ reason: Reason.WebhookNotReady, message });
  if (!caBundle) return notReady('the admission webhook has no certificate: see the log of its pods');
  if (!hasEndpoint) {
    const name = `${service?.namespace}/${service?.name}`;
    return notReady(`no pod of the admission webhook is ready (Service ${name}): see the log of its pods`);
  }
  if (hasNamespace(webhook, namespace)) return { reason: Reason.WebhookInstalled, message: '' };
  if (namespace === SYSTEM_NAMESPACE || namespace === service?.namespace) {
    return notReady(`the admission webhook never gets the pods of the namespace ${namespace}`);
  }
  const message = `the admission webhook does not get the pods of the namespace ${namespace} yet`;
  return { reason: Reason.PlacementPending, message };
}
