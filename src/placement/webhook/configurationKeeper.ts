import type { V1MutatingWebhook, V1MutatingWebhookConfiguration } from '@kubernetes/client-node';
import { PLACEMENT_WEBHOOK } from '../../api/podplacement/webhook.ts';
import { isEqual } from '../../runtime/apply/mergePatch.ts';
import type { Client } from '../../runtime/client/client.ts';
import { isConflict, isNotFound } from '../../runtime/client/errors.ts';
import { MUTATING_WEBHOOKS } from '../../runtime/client/resources.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { KeyPair } from '../../runtime/server/selfSigned.ts';
import { desiredWebhook, trusts, type WebhookAddress } from './configuration.ts';

const FIELD_MANAGER = 'traffic-operator-placement-webhook';
/** Interval of the comparison, and of the next attempt after an error: ms. */
const CHECK_MS = 10_000;
/** Namespaces that get PodPlacements together are written together: ms. */
const GATHER_MS = 200;
const HOUR_MS = 3_600_000;
/** A key is in the memory of one process only, so a certificate is short-lived. */
const LIFETIME_MS = 14 * 24 * HOUR_MS;
/** Clocks of other machines may be an hour off, in both directions. */
const BACKDATED_MS = 2 * HOUR_MS;
/** API servers watch the configuration: a certificate that is in it for so long is trusted by all of them. */
const SPREAD_MS = 60_000;

interface KeeperOptions {
  readonly client: Pick<Client, 'get' | 'mergePatch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name of the MutatingWebhookConfiguration, which the chart creates. */
  readonly name: string;
  readonly address: WebhookAddress;
  readonly excluded: readonly string[];
  /** Namespaces with a PodPlacement; undefined while they are not known. */
  readonly namespaces: () => readonly string[] | undefined;
  readonly createCertificate: (validity: { notBefore: number; notAfter: number }) => KeyPair;
  /** Uses another certificate for new connections. */
  readonly renew: (certificate: KeyPair) => void;
}

/** A certificate and when the configuration was first seen with it: monotonic, ms. */
interface Own {
  readonly pair: KeyPair;
  readonly renewAt: number;
  trustedAt?: number;
}

/**
 * Keeps the webhook in its configuration: the namespaces whose pods it gets, and the certificates of this replica. Replicas
 * need no leader: each adds its own certificates, and a write is refused if another replica was faster.
 */
export class ConfigurationKeeper {
  readonly #o: KeeperOptions;
  #inUse: Own;
  #next: Own | undefined;
  #problem: string | undefined = 'the webhook configuration is not read yet';
  #wake = new AbortController();

  constructor(options: KeeperOptions) {
    this.#o = options;
    this.#inUse = this.#create();
  }

  /** The certificate to serve with at first. */
  get certificate(): KeyPair {
    return this.#inUse.pair;
  }

  /** Why the API server does not call this replica; undefined if it may. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** Compares soon: the namespaces have changed. */
  changed(): void {
    this.#wake.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#o;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const isDone = await this.#pass(signal);
      await clock.sleep(isDone ? CHECK_MS : GATHER_MS, AbortSignal.any([signal, this.#wake.signal]));
      if (this.#wake.signal.aborted) await clock.sleep(GATHER_MS, signal);
    }
  }

  /** Returns false if another replica wrote in between. */
  async #pass(signal: AbortSignal): Promise<boolean> {
    const { clock, logger, name } = this.#o;
    if (this.#next === undefined && clock.now() >= this.#inUse.renewAt) this.#next = this.#create();
    try {
      const webhook = await this.#keep(signal);
      this.#note(webhook);
    } catch (error) {
      if (signal.aborted) return true;
      if (isConflict(error)) return false;
      const message = error instanceof Error ? error.message : String(error);
      if (isNotFound(error)) {
        this.#problem = `MutatingWebhookConfiguration ${name} does not exist: install it with the chart (placementWebhook.enabled=true)`;
      } else if (this.#inUse.trustedAt === undefined) {
        this.#problem = `MutatingWebhookConfiguration ${name} cannot be read or written: ${message}`;
      }
      // Otherwise the API server may still call this replica, also right after the API server's own restart.
      logger.warn({ err: error, configuration: name }, 'the webhook configuration is not up to date');
    }
    return true;
  }

  /** Writes the configuration if it differs, and returns the webhook as the API server has it. */
  async #keep(signal: AbortSignal): Promise<V1MutatingWebhook | undefined> {
    const { client, name } = this.#o;
    const found = await client.get(MUTATING_WEBHOOKS, { name }, { signal });
    const present = found.webhooks?.find((webhook) => webhook.name === PLACEMENT_WEBHOOK);
    const desired = this.#desired(present);
    if (desired === undefined || isUpToDate(found.webhooks, desired)) return present;
    // The version makes it a conflict if another replica has written meanwhile.
    const patch = { metadata: { resourceVersion: found.metadata?.resourceVersion }, webhooks: [desired] };
    const options = { fieldManager: FIELD_MANAGER, signal };
    const written: V1MutatingWebhookConfiguration = await client.mergePatch(
      MUTATING_WEBHOOKS,
      { name },
      patch,
      options,
    );
    return written.webhooks?.[0];
  }

  #desired(present: V1MutatingWebhook | undefined): V1MutatingWebhook | undefined {
    const { clock, address, excluded } = this.#o;
    const namespaces = this.#o.namespaces();
    if (namespaces === undefined) return undefined;
    const own = [this.#inUse, ...(this.#next === undefined ? [] : [this.#next])].map(({ pair }) => pair.cert);
    const { caBundle } = present?.clientConfig ?? {};
    return desiredWebhook({ address, namespaces, excluded, own, caBundle, now: clock.now() });
  }

  #note(webhook: V1MutatingWebhook | undefined): void {
    const { clock, logger, renew } = this.#o;
    for (const own of [this.#inUse, this.#next]) {
      if (own !== undefined && trusts(webhook, own.pair.cert)) own.trustedAt ??= clock.monotonic();
    }
    this.#problem = trusts(webhook, this.#inUse.pair.cert)
      ? undefined
      : 'the webhook configuration does not have the certificate of this replica yet';
    const since = this.#next?.trustedAt;
    if (this.#next === undefined || since === undefined || clock.monotonic() - since < SPREAD_MS) return;
    this.#inUse = this.#next;
    this.#next = undefined;
    renew(this.#inUse.pair);
    logger.info('the certificate of the webhook is renewed');
  }

  #create(): Own {
    const now = this.#o.clock.now();
    const validity = { notBefore: now - BACKDATED_MS, notAfter: now + LIFETIME_MS };
    return { pair: this.#o.createCertificate(validity), renewAt: now + LIFETIME_MS / 2 };
  }
}

/** Later versions of Kubernetes may add fields with defaults, which no write would remove. */
function isUpToDate(webhooks: readonly V1MutatingWebhook[] = [], desired: V1MutatingWebhook): boolean {
  const [first] = webhooks;
  if (first === undefined || webhooks.length > 1) return false;
  return Object.keys(desired).every((field) =>
    isEqual(first[field as keyof V1MutatingWebhook], desired[field as keyof V1MutatingWebhook]),
  );
}
