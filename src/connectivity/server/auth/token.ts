import type { V1TokenReviewStatus } from '@kubernetes/client-node';
import * as z from 'zod';

/** No ServiceAccount token is longer; the HTTP server limits all headers to 16 KiB. */
const MOST_CHARACTERS = 8_192;

/**
 * Reads the header `authorization`:
 *
 * | header | result |
 * |---|---|
 * | absent | undefined |
 * | `Bearer TOKEN` | the token |
 * | other | '', which no token is |
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
  return token.length <= MOST_CHARACTERS ? token : '';
}

/** The claims of a token, none of them verified. */
export interface Claims {
  readonly audiences: readonly string[];
  /** Seconds since 1970; undefined if it is missing. */
  readonly expiresAt: number | undefined;
  /** The pod that the token is bound to; undefined if it names none. */
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
}

/**
 * Reads the claims of a JSON Web Token (RFC 7519) without verifying them. A token that does not even claim the right
 * audience needs no review by the API server.
 *
 * @returns undefined for a text that is no such token
 */
export function claimsOf(token: string): Claims | undefined {
  const payload = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token)?.[1];
  const claims = payload === undefined ? undefined : objectOf(Buffer.from(payload, 'base64url').toString('utf8'));
  if (claims === undefined) return undefined;
  const { aud, exp } = claims;
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === 'string');
  return { audiences, expiresAt: typeof exp === 'number' ? exp : undefined, pod: podOf(claims) };
}

/** The private claim of Kubernetes: `{namespace, pod: {name, uid}, node, serviceaccount}`. */
const boundPod = z.object({
  'kubernetes.io': z.object({ namespace: z.string(), pod: z.object({ name: z.string(), uid: z.string() }) }),
});

function podOf(claims: object): Claims['pod'] {
  const { data } = boundPod.safeParse(claims);
  if (data === undefined) return undefined;
  const { namespace, pod } = data['kubernetes.io'];
  return { namespace, ...pod };
}

function objectOf(text: string): { aud?: unknown; exp?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

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
