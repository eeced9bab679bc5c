import * as z from 'zod';
import type { Identity } from './identity.ts';

/** The audience of the agents' tokens, unless a flag says otherwise. */
export const DEFAULT_AUDIENCE = 'traffic-operator-connectivity';

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

/** What a token claims. Nothing of it is verified. */
export interface Claims {
  readonly audiences: readonly string[];
  /** Seconds since 1970; undefined if it is missing. */
  readonly expiresAt: number | undefined;
  /** Undefined if it claims to be no token of a ServiceAccount. */
  readonly identity: Identity | undefined;
}

/** As long as the names of Kubernetes: an answer may repeat them. */
const name = z.string().max(253);

/** The claims of a ServiceAccount token, by Kubernetes' pkg/serviceaccount/claims.go. */
const accountClaims = z.object({
  sub: name,
  'kubernetes.io': z.object({
    namespace: name,
    serviceaccount: z.object({ name }),
    pod: z.object({ name, uid: name }).optional(),
    node: z.object({ name }).optional(),
  }),
});

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
  const { aud, exp } = claims as { aud?: unknown; exp?: unknown };
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === 'string');
  return { audiences, expiresAt: typeof exp === 'number' ? exp : undefined, identity: claimedIdentity(claims) };
}

function claimedIdentity(claims: object): Identity | undefined {
  const { success, data } = accountClaims.safeParse(claims);
  if (!success) return undefined;
  const { namespace, serviceaccount, pod, node } = data['kubernetes.io'];
  if (pod === undefined) return { unbound: data.sub };
  return { namespace, serviceAccount: serviceaccount.name, pod: pod.name, podUid: pod.uid, node: node?.name };
}

function objectOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
