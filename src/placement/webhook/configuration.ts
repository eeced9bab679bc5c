import { X509Certificate } from 'node:crypto';
import type { V1MutatingWebhook } from '@kubernetes/client-node';
import { MATCH_CONDITIONS } from '../policy.ts';
import { NAMESPACE_NAME_LABEL, PLACEMENT_WEBHOOK } from '../../api/podplacement/webhook.ts';

/** The path of the webhook. */
export const WEBHOOK_PATH = '/mutate-pods';
/** Seconds. A pod waits at most so long for a webhook that does not answer, and is created without terms. */
const TIMEOUT_SECONDS = 2;
/** Maximum of certificates of other replicas, running or not. Each is 0.8 KB. */
const MOST_CERTIFICATES = 20;
/** Maximum for one replica: the certificate in use, and its successor. */
const MOST_OF_REPLICA = 2;

/** Where the API server reaches the webhook: the Service, or an address outside of the cluster's network. */
export type WebhookAddress =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
  | { readonly url: string };

interface DesiredWebhook {
  readonly address: WebhookAddress;
  /** Namespaces with a PodPlacement. */
  readonly namespaces: readonly string[];
  /** Namespaces whose pods never wait for the webhook, such as the namespace of its own pods. */
  readonly excluded: readonly string[];
  /** The certificates of this replica, PEM. */
  readonly own: readonly string[];
  /** The present caBundle: base64 of PEM. */
  readonly caBundle: string | undefined;
  /** ms since the epoch. */
  readonly now: number;
}

/**
 * The webhook as the API server should have it. All fields are there, so that it equals what the API server stores.
 *
 * | field              | value         | reason                                                                              |
 * |--------------------|---------------|-------------------------------------------------------------------------------------|
 * | failurePolicy      | Ignore        | a pod without terms is better than no pod                                           |
 * | reinvocationPolicy | IfNeeded      | a later webhook may add terms, which need the requirement; it adds to each term once |
 * | sideEffects        | None          | also a dry run gets the terms                                                       |
 * | matchPolicy        | Equivalent    | the default; pods have one version                                                  |
 * | namespaceSelector  | by name       | pods of other namespaces do not wait, and no label is needed                        |
 * | matchConditions    | not on a node | pods of kubelets and pods that name their node do not wait                          |
 */
export function desiredWebhook(o: DesiredWebhook): V1MutatingWebhook {
  const where = 'url' in o.address ? o.address : { service: { ...o.address.service, path: WEBHOOK_PATH } };
  return {
    name: PLACEMENT_WEBHOOK,
    admissionReviewVersions: ['v1'],
    clientConfig: { ...where, caBundle: bundleOf(o) },
    failurePolicy: 'Ignore',
    matchConditions: MATCH_CONDITIONS.filter(({ expression }) => !expression.includes('params')).map((each) => ({
      ...each,
    })),
    matchPolicy: 'Equivalent',
    namespaceSelector: selectorOf(o),
    objectSelector: {},
    reinvocationPolicy: 'IfNeeded',
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' }],
    sideEffects: 'None',
    timeoutSeconds: TIMEOUT_SECONDS,
  };
}

/** No namespace if none has a PodPlacement: the webhook stays, since its bundle has the certificates of the replicas. */
function selectorOf({ namespaces, excluded }: DesiredWebhook): V1MutatingWebhook['namespaceSelector'] {
  const values = [...new Set(namespaces)].filter((namespace) => !excluded.includes(namespace)).sort();
  return {
    matchExpressions: [values.length > 0 ? { key: NAMESPACE_NAME_LABEL, operator: 'In', values } : NO_NAMESPACE],
  };
}

const NO_NAMESPACE = { key: NAMESPACE_NAME_LABEL, operator: 'DoesNotExist' };

/**
 * The certificates that the API server trusts: the certificates of this replica, and of others.
 *
 * | certificate                                       | stays                          |
 * |---------------------------------------------------|--------------------------------|
 * | of this replica                                   | yes, and no other of its name  |
 * | of another replica, the newest two of its name    | until it ends, the newest 20   |
 * | of another replica, older; unreadable             | no                             |
 *
 * A replica writes its own again if it is missing, so nothing here has to know which replicas still run.
 */
function bundleOf({ own, caBundle, now }: DesiredWebhook): string {
  const names = new Set(own.map((pem) => new X509Certificate(pem).subject));
  const others = certificatesIn(caBundle)
    .filter(({ subject, endsAt }) => !names.has(subject) && endsAt > now)
    .sort((a, b) => b.endsAt - a.endsAt || (a.pem < b.pem ? -1 : 1));
  const byName = [...Map.groupBy(others, ({ subject }) => subject).values()];
  const kept = byName.flatMap((ofName) => ofName.slice(0, MOST_OF_REPLICA)).sort((a, b) => b.endsAt - a.endsAt);
  const all = [...own, ...kept.slice(0, MOST_CERTIFICATES).map(({ pem }) => pem)];
  // In one order, whichever replica writes: none corrects the other.
  return Buffer.from(all.sort().join('')).toString('base64');
}

interface ReadCertificate {
  readonly pem: string;
  readonly subject: string;
  /** ms since the epoch. */
  readonly endsAt: number;
}

function certificatesIn(caBundle = ''): ReadCertificate[] {
  const text = Buffer.from(caBundle, 'base64').toString();
  const found = text.match(/-----BEGIN CERTIFICATE-----\n[^-]*-----END CERTIFICATE-----\n/g) ?? [];
  return found.flatMap((pem) => {
    try {
      const { subject, validTo } = new X509Certificate(pem);
      return [{ pem, subject, endsAt: Date.parse(validTo) }];
    } catch {
      return [];
    }
  });
}

/** Whether the API server trusts a certificate. @param webhook undefined if the configuration does not have it */
export function trusts(webhook: V1MutatingWebhook | undefined, pem: string): boolean {
  return Buffer.from(webhook?.clientConfig.caBundle ?? '', 'base64')
    .toString()
    .includes(pem);
}
