import { type ConnectionOptions, createSecureContext } from 'node:tls';
// Import only this file of client-node: its index also loads every API class (twice the time, twice the bundle).
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { stat } from 'node:fs/promises';
import type { Clock, Timer } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';

interface CredentialsOptions {
  kubeConfig: KubeConfig;
  clock: Clock;
  logger: Logger;
  /** Interval of checking the files, and of running plugins whose credentials expired, without any call. */
  intervalMs: number;
  /** Called when the certificates have changed. */
  onTlsChange: () => void;
}

/** A burst of calls that all get 401 shares one reload; a token that stays wrong is reloaded once a second. */
const REFRESH_PAUSE_MS = 1_000;

/**
 * Identity and trusted CAs of the kubeconfig, from the current content of its files. Each call waits for a check of the
 * files, and for reading changed files. A call waits for a credential plugin only if it is the first call, got 401, or
 * finds a changed file in addition to the plugin. Credentials of a plugin are renewed in the background.
 *
 * client-go is slower: it reloads a token file after 50 s at the earliest, certificates and CAs after five minutes, and
 * aborts requests that use an old client certificate (token_source.go, cert_rotation.go and ca_rotation.go in
 * transport/ of 0.37).
 */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #files: CredentialFiles;
  #source: KubeConfig;
  #identity: Promise<Identity> | undefined;
  #tls: ConnectionOptions = {};
  /** State of the files before reading the identity in use, and before reading a rejected identity. */
  #filesUsed = '';
  #filesRefused: string | undefined;
  /** Serializes reading, so that an older identity never replaces a newer one. */
  #turn = Promise.resolve();
  #timer: Timer | undefined;
  #lastRefresh = -Infinity;
  #refreshing: Promise<void> | undefined;
  #closed = false;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#files = new CredentialFiles(options.kubeConfig, options.clock);
    this.#source = copyOf(options.kubeConfig);
  }

  /**
   * The identity from the files as they were at most 50 ms ago. If files are unusable, for example incomplete, the old
   * identity stays in use. @throws if the first read fails
   */
  async current(): Promise<Identity> {
    const reading = (this.#identity ??= this.#first());
    try {
      await reading;
    } catch (error) {
      if (this.#identity === reading) this.#identity = undefined;
      throw error;
    }
    await this.#catchUp();
    return this.#identity;
  }

  /** The newest certificates; empty before `current` has resolved once. */
  get tls(): ConnectionOptions {
    return this.#tls;
  }

  /** Reloads everything, plugins included, after the server rejected the identity. Never rejects. */
  async refresh(): Promise<void> {
    const { clock } = this.#options;
    if (this.#refreshing === undefined && clock.monotonic() - this.#lastRefresh >= REFRESH_PAUSE_MS) {
      this.#refreshing = this.#inTurn(() => this.#reread({ fresh: true })).finally(() => {
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
    this.#filesUsed = await this.#files.look();
    const identity = await identityOf(this.#source);
    this.#tls = identity.tls;
    this.#scheduleLook();
    return identity;
  }

  /** Reads changed files. Files whose current state was rejected are left to the periodic check. */
  async #catchUp(): Promise<void> {
    const files = await this.#files.sharedLook();
    const isKnown = (): boolean => files === this.#filesUsed || files === this.#filesRefused;
    if (isKnown()) return;
    // A call that waited for another call's read of the same files needs no own read.
    await this.#inTurn(async () => {
      if (!isKnown()) await this.#reread();
    });
  }

  #scheduleLook(): void {
    this.#timer?.cancel();
    if (this.#closed) return;
    this.#timer = this.#options.clock.setTimeout(() => void this.#look(), this.#options.intervalMs);
  }

  async #look(): Promise<void> {
    await this.#inTurn(() => this.#reread());
    this.#scheduleLook();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work);
    return this.#turn;
  }

  /** If no file has changed, plugins may use their cache, unless `fresh` is set. */
  async #reread({ fresh = false } = {}): Promise<void> {
    // Checked before reading: the next check finds a write in between.
    const files = await this.#files.look();
    const source = fresh || files !== this.#filesUsed ? copyOf(this.#options.kubeConfig) : this.#source;
    try {
      const before = await this.#identity;
      const next = await identityOf(source);
      if (before !== undefined) refuseHalfWritten(before, next);
      this.#adopt(source, next, before);
      this.#filesUsed = files;
      this.#filesRefused = undefined;
    } catch (error) {
      this.#filesRefused = files;
      this.#options.logger.warn({ err: error }, 'cannot reload the credentials, the old ones stay in use');
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
}

/** A copy of the KubeConfig without caches: authenticators of the original cache tokens for a minute and more. */
function copyOf({ clusters, contexts, users, currentContext }: KubeConfig): KubeConfig {
  const copy = new KubeConfig();
  copy.loadFromOptions({ clusters, contexts, users, currentContext });
  return copy;
}

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

function sameIdentity(one: Identity, other: Identity): boolean {
  return one.tlsFingerprint === other.tlsFingerprint && JSON.stringify(one.headers) === JSON.stringify(other.headers);
}

/**
 * Rejects files that are read during their replacement: empty, truncated, or a key that does not match its certificate.
 *
 * @throws Error that names the problem, if `next` cannot be a complete successor of `before`
 */
function refuseHalfWritten(before: Identity, next: Identity): void {
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

/**
 * A check takes 0.1 to 0.2 ms of CPU time. Calls share a check that started at most this long before: at most 20 checks
 * a second, however many calls there are.
 */
const SHARED_FOR_MS = 50;

/** The files on disk that the current user and cluster of a kubeconfig name. */
export class CredentialFiles {
  readonly #paths: readonly string[];
  readonly #clock: Clock;
  #begun = -Infinity;
  #latest: Promise<string> = Promise.resolve('');

  constructor(kubeConfig: KubeConfig, clock: Clock) {
    this.#paths = pathsOf(kubeConfig);
    this.#clock = clock;
  }

  /**
   * Inode, modification time and size of each file, in one text. It differs when a file was written or replaced, for
   * example when a volume swaps its symlink. A missing file counts as zeros. Never rejects.
   */
  async look(): Promise<string> {
    return (await Promise.all(this.#paths.map(stateOf))).join(' ');
  }

  /** Like `look`, but shares the result of a check that started within the last 50 ms. */
  sharedLook(): Promise<string> {
    const now = this.#clock.monotonic();
    if (now - this.#begun >= SHARED_FOR_MS) {
      this.#begun = now;
      this.#latest = this.look();
    }
    return this.#latest;
  }
}

function pathsOf(kubeConfig: KubeConfig): string[] {
  const cluster = kubeConfig.getCurrentCluster();
  const user = kubeConfig.getCurrentUser();
  const { tokenFile } = (user?.authProvider as { config?: { tokenFile?: string } } | null)?.config ?? {};
  const named = [cluster?.caFile, user?.certFile, user?.keyFile, tokenFile];
  return named.filter((path): path is string => typeof path === 'string' && path !== '');
}

async function stateOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return `${found?.ino ?? 0}:${found?.mtimeMs ?? 0}:${found?.size ?? 0}`;
}

/** Address of the API server. */
interface Server {
  /** 'https://10.96.0.1:443' */
  origin: string;
  /** '' or '/k8s/clusters/c-1': some gateways serve several clusters at one address. */
  basePath: string;
}

/** @throws Error if there is no current cluster, its address is invalid, or it requires a proxy */
export function serverOf(kubeConfig: KubeConfig): Server {
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) throw new Error(`kubeconfig: no cluster for context "${kubeConfig.currentContext}"`);
  if (cluster.proxyUrl !== undefined && cluster.proxyUrl !== '') {
    throw new Error(`kubeconfig: cluster "${cluster.name}" has a proxy-url, which is not supported`);
  }
  if (!URL.canParse(cluster.server)) throw new Error(`kubeconfig: "${cluster.server}" is not the URL of a server`);
  const url = new URL(cluster.server);
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}
