import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
// Of client-node just this: its index also loads every API class (twice the time, twice the bundle).
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { KubeConfig as AnyKubeConfig } from '@kubernetes/client-node';
import type { Clock, Timer } from '../clock.ts';
import type { Logger } from '../logger.ts';

/** Who we are, and whom we trust. */
export interface Identity {
  /** Authorization, Impersonate-User. */
  headers: Record<string, string>;
  tls: ConnectionOptions;
  /** Differs when `tls` does. */
  tlsFingerprint: string;
}

export interface CredentialsOptions {
  kubeConfig: AnyKubeConfig;
  clock: Clock;
  logger: Logger;
  /** How often files are looked at. */
  intervalMs: number;
  /** Called when the certificates have changed. */
  onTlsChange: () => void;
}

/** A burst of calls that are all answered 401 shares one reading; a token that stays wrong is read once a second. */
const REFRESH_PAUSE_MS = 1_000;

/**
 * What the kubeconfig says of identity and trust, kept current in the background: no call waits for a file or a
 * plugin but the first, and one that was answered 401. How each kind of user is authenticated is KubeConfig's affair.
 */
export class Credentials {
  readonly #options: CredentialsOptions;
  #source: KubeConfig;
  #identity: Promise<Identity> | undefined;
  #tls: ConnectionOptions = {};
  #filesSeen = '';
  #timer: Timer | undefined;
  #lastRefresh = -Infinity;
  #refreshing: Promise<void> | undefined;
  #closed = false;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#source = copyOf(options.kubeConfig);
  }

  /** The identity as last read; read now if it never was. @throws what reading it throws */
  async current(): Promise<Identity> {
    this.#identity ??= this.#first();
    try {
      return await this.#identity;
    } catch (error) {
      this.#identity = undefined;
      throw error;
    }
  }

  /** The newest certificates; empty before `current` has resolved once. */
  get tls(): ConnectionOptions {
    return this.#tls;
  }

  /** Reads everything again, plugins included, since the server did not like what we have. Never rejects. */
  async refresh(): Promise<void> {
    const { clock } = this.#options;
    if (this.#refreshing === undefined && clock.monotonic() - this.#lastRefresh >= REFRESH_PAUSE_MS) {
      this.#refreshing = this.#reread(true).finally(() => {
        this.#lastRefresh = clock.monotonic();
        this.#refreshing = undefined;
      });
    }
    await this.#refreshing;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  async #first(): Promise<Identity> {
    this.#filesSeen = await this.#lookAtFiles();
    const identity = await identityOf(this.#source);
    this.#tls = identity.tls;
    this.#scheduleLook();
    return identity;
  }

  #scheduleLook(): void {
    this.#timer?.cancel();
    if (this.#closed) return;
    this.#timer = this.#options.clock.setTimeout(() => void this.#look(), this.#options.intervalMs);
  }

  async #look(): Promise<void> {
    const files = await this.#lookAtFiles();
    await this.#reread(files !== this.#filesSeen, files);
    this.#scheduleLook();
  }

  /** @param fresh false: plugins may answer from what they remember, until that expires */
  async #reread(fresh: boolean, files?: string): Promise<void> {
    const source = fresh ? copyOf(this.#options.kubeConfig) : this.#source;
    try {
      const before = await this.#identity;
      const next = await identityOf(source);
      if (before !== undefined) this.#refuseHalfWritten(before, next);
      this.#adopt(source, next, before);
      if (files !== undefined) this.#filesSeen = files;
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'credentials could not be read again, the old ones stay in use');
    }
  }

  #adopt(source: KubeConfig, next: Identity, before: Identity | undefined): void {
    this.#source = source;
    this.#identity = Promise.resolve(next);
    this.#tls = next.tls;
    if (before === undefined || sameIdentity(before, next)) return;
    const certificates = before.tlsFingerprint !== next.tlsFingerprint;
    this.#options.logger.info({ certificates }, 'credentials have changed');
    if (certificates) this.#options.onTlsChange();
  }

  /** A file that is being replaced can be read empty, or a key before its certificate. */
  #refuseHalfWritten(before: Identity, next: Identity): void {
    if (before.headers.Authorization !== undefined && next.headers.Authorization === undefined) {
      throw new Error('the token is gone');
    }
    if (before.tlsFingerprint !== next.tlsFingerprint) createSecureContext(next.tls);
  }

  /** Modification times and inodes of all files involved; a volume's symlink swap changes both. */
  async #lookAtFiles(): Promise<string> {
    const cluster = this.#source.getCurrentCluster();
    const user = this.#source.getCurrentUser();
    const { tokenFile } = (user?.authProvider as { config?: { tokenFile?: string } } | null)?.config ?? {};
    const seen = [cluster?.caFile, user?.certFile, user?.keyFile, tokenFile].map(async (file) => {
      if (file === undefined) return '';
      const found = await stat(file).catch(() => undefined);
      return `${found?.ino ?? 0}:${found?.mtimeMs ?? 0}:${found?.size ?? 0}`;
    });
    return (await Promise.all(seen)).join(' ');
  }
}

/** A KubeConfig of the same content that remembers nothing: its authenticators keep tokens for a minute and more. */
function copyOf({ clusters, contexts, users, currentContext }: AnyKubeConfig): KubeConfig {
  const copy = new KubeConfig();
  copy.loadFromOptions({ clusters, contexts, users, currentContext });
  return copy;
}

async function identityOf(source: KubeConfig): Promise<Identity> {
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

function sameIdentity(one: Identity, other: Identity): boolean {
  return one.tlsFingerprint === other.tlsFingerprint && JSON.stringify(one.headers) === JSON.stringify(other.headers);
}
