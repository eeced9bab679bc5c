import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';

/** Who we are, and whom we trust. */
export interface Identity {
  /** Authorization, Impersonate-User. */
  headers: Record<string, string>;
  tls: ConnectionOptions;
  /** Differs when `tls` does. */
  tlsFingerprint: string;
}

/**
 * What a kubeconfig says of identity and trust; files are read and plugins asked for it. How each kind of user is
 * authenticated is KubeConfig's affair.
 *
 * @throws Error when a file cannot be read or a plugin fails; nothing that was read stands in it
 */
export async function identityOf(source: Pick<KubeConfig, 'applyToHTTPSOptions'>): Promise<Identity> {
  const options: RequestOptions & ConnectionOptions = {};
  try {
    await source.applyToHTTPSOptions(options);
  } catch (error) {
    // Its message quotes what was read: a token, perhaps.
    if (error instanceof SyntaxError) throw new Error('the credential plugin answers with something else than JSON');
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
 * Files that are being replaced can be read empty, cut off, or a key before its certificate.
 *
 * @throws Error saying which, when `next` cannot be what was meant to come after `before`
 */
export function refuseHalfWritten(before: Identity, next: Identity): void {
  if (before.headers.Authorization !== undefined && next.headers.Authorization === undefined) {
    throw new Error('the token is gone');
  }
  if (before.tlsFingerprint === next.tlsFingerprint) return;
  // TLS takes an empty or a cut off file for one with fewer certificates, and would trust nobody then.
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
    // A token file may end in a newline, which no header may hold.
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
