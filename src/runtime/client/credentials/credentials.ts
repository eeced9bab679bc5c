import type { ConnectionOptions } from 'node:tls';
// Import only this file of client-node: its index also loads every API class (twice the time, twice the bundle).
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { KubeConfig as AnyKubeConfig } from '@kubernetes/client-node';
import type { Clock, Timer } from '../../process/clock.ts';
import type { Logger } from '../../process/logger.ts';
import { CredentialFiles } from './credentialFiles.ts';
import { identityOf, refuseHalfWritten, sameIdentity } from './identity.ts';
import type { Identity } from './identity.ts';

export interface CredentialsOptions {
  kubeConfig: AnyKubeConfig;
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
function copyOf({ clusters, contexts, users, currentContext }: AnyKubeConfig): KubeConfig {
  const copy = new KubeConfig();
  copy.loadFromOptions({ clusters, contexts, users, currentContext });
  return copy;
}
