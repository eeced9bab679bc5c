import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';

/** Credentials of this client, and the CAs that it trusts. */
export interface Identity {
  /** Authorization, Impersonate-User. */
  headers: Record<string, string>;
  tls: ConnectionOptions;
  /** Changes when `tls` changes. */
  tlsFingerprint: string;
}

/**
 * Reads the identity of a kubeconfig from its files and plugins. KubeConfig implements each kind of authentication.
 *
 * @throws Error if a file cannot be read or a plugin fails; the error contains nothing that was read
 */
export async function identityOf(source: Pick<KubeConfig, 'applyToHTTPSOptions'>): Promise<Identity> {
  const options: RequestOptions & ConnectionOptions = {};
  try {
    await source.applyToHTTPSOptions(options);
  } catch (error) {
    // The message quotes the content, which may be a token.
    if (error instanceof SyntaxError) throw new Error('the output of the credential plugin is not JSON');
    throw error;
  }
  const { ca, cert, key, rejectUnauthorized, servername } = options;
  const tls = withoutUndefined({ ca, cert, key, rejectUnauthorized, servername });
  return { headers: headersOf(options), tls, tlsFingerprint: fingerprintOf(tls) };
}

export function sameIdentity(one: Identity, other: Identity): boolean {
  return one.tlsFingerprint === other.tlsFingerprint && JSON.stringify(one.headers) === JSON.stringify(other.headers);
}

/**
 * Rejects files that are read during their replacement: empty, truncated, or a key that does not match its certificate.
 *
 * @throws Error that names the problem, if `next` cannot be a complete successor of `before`
 */
export function refuseHalfWritten(before: Identity, next: Identity): void {
  if (before.headers.Authorization !== undefined && next.headers.Authorization === undefined) {
    throw new Error('the token is gone');
  }
  if (before.tlsFingerprint === next.tlsFingerprint) return;
  // TLS treats an empty or truncated file as a file with fewer certificates, and would then trust no server.
  refuseCutOff('certificate-authority', next.tls.ca);
  refuseCutOff('client-certificate', next.tls.cert);
  createSecureContext(next.tls);
}

function refuseCutOff(name: string, pem: ConnectionOptions['ca']): void {
  if (pem === undefined) return;
  const count = (mark: string): number => String(pem).split(mark).length - 1;
  const begun = count('-----BEGIN ');
  if (begun === 0 || begun !== count('-----END ')) throw new Error(`${name}: not PEM, or cut off`);
}

function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    // A token file may end in a newline, which is not allowed in a header.
    if (value !== undefined && String(value).trim() !== 'Bearer') found[name] = String(value).trim();
  }
  if (typeof auth === 'string') found.Authorization = `Basic ${Buffer.from(auth).toString('base64')}`;
  return found;
}

function withoutUndefined(options: ConnectionOptions): ConnectionOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function fingerprintOf(tls: ConnectionOptions): string {
  const text = (value: unknown): string => (Buffer.isBuffer(value) ? value.toString('base64') : String(value));
  const parts = [tls.ca, tls.cert, tls.key, tls.rejectUnauthorized, tls.servername].map(text);
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}
