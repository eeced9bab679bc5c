import type { V1TokenReviewStatus } from '@kubernetes/client-node';

/** The pod that a verified token is bound to. */
export interface PodIdentity {
  /** The namespace of the ServiceAccount, and so of the pod. */
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly pod: string;
  readonly podUid: string;
  /** The node of the pod; undefined if the API server is older than Kubernetes 1.32. */
  readonly node: string | undefined;
}

/** A verified token. `unbound`: it is not bound to a pod. */
export type Identity = PodIdentity | { readonly unbound: string };

const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';
const NODE_NAME = 'authentication.kubernetes.io/node-name';

/**
 * Reads the answer of a TokenReview:
 *
 * | status | result |
 * |---|---|
 * | not authenticated | undefined |
 * | authenticated, but not for the audience | undefined: an authenticator that knows no audiences returns none |
 * | a user that is no ServiceAccount, or a token without pod | unbound, with the user's name |
 * | else | the pod, and its node if the API server tells it |
 */
export function identityOf(status: V1TokenReviewStatus | undefined, audience: string): Identity | undefined {
  if (status?.authenticated !== true || status.audiences?.includes(audience) !== true) return undefined;
  const { username = '', extra = {} } = status.user ?? {};
  const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  const [pod, podUid, node] = [POD_NAME, POD_UID, NODE_NAME].map((key) => extra[key]?.[0]);
  if (namespace === undefined || serviceAccount === undefined || pod === undefined || podUid === undefined) {
    return { unbound: username };
  }
  return { namespace, serviceAccount, pod, podUid, node };
}
