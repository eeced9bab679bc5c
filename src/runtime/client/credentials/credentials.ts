import type { ConnectionOptions } from 'node:tls';
// Of client-node just this: its index also loads every API class (twice the time, twice the bundle).
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
  /** How often files are looked at, and plugins asked whose answer has expired, when no call brings it up. */
  intervalMs: number;
  /** Called when the certificates have changed. */
  onTlsChange: () => void;
}

/** A burst of calls that are all answered 401 shares one reading; a token that stays wrong is read once a second. */
const REFRESH_PAUSE_MS = 1_000;

/**
 * What the kubeconfig says of identity and trust, as the files stand when a call asks. A call waits for a look at the
 * files, and for reading them when they have changed; it waits for a plugin only if it is the first, was answered 401,
 * or finds a changed file beside the plugin. What a plugin gave is renewed in the background.
 *
 * client-go is slower: it reads a token file again after 50 s at least, certificates and authorities after five
 * minutes, and cuts what is under way with an old client certificate (token_source.go, cert_rotation.go and
 * ca_rotation.go in transport/ of 0.37).
 */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #files: CredentialFiles;
  #source: KubeConfig;
  #identity: Promise<Identity> | undefined;
  #tls: ConnectionOptions = {};
  /** The files as they were before the identity in use was read, and before one that was refused. */
  #filesUsed = '';
  #filesRefused: string | undefined;
  /** SeriesDecoder follow one another, so that an older one never replaces a newer one. */
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
   * The identity by the files as they were 50 ms ago at most. Files that cannot be used, half written perhaps, leave
   * the old one in use. @throws what reading it for the first time throws
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

  /** Reads everything again, plugins included, since the server did not like what we have. Never rejects. */
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

  /** Reads files that have changed. Those that were refused as they are now are left to the look every 10 s. */
  async #catchUp(): Promise<void> {
    const files = await this.#files.sharedLook();
    const isKnown = (): boolean => files === this.#filesUsed || files === this.#filesRefused;
    if (isKnown()) return;
    // Whoever waited behind another one's reading of the same files needs none.
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

  /** Where no file has changed, plugins may answer from what they remember, unless it is to be `fresh`. */
  async #reread({ fresh = false } = {}): Promise<void> {
    // Looked at before they are read: what is written in between is found by the next look.
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
}

/** A KubeConfig of the same content that remembers nothing: its authenticators keep tokens for a minute and more. */
function copyOf({ clusters, contexts, users, currentContext }: AnyKubeConfig): KubeConfig {
  const copy = new KubeConfig();
  copy.loadFromOptions({ clusters, contexts, users, currentContext });
  return copy;
}
