import { systemClock, type Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';
import type { Part } from '../process/part.ts';
import { readCertificate, type Certificate, type CertificateSource } from './certificate.ts';
import type { HttpsServer } from './httpServer.ts';

/** Interval of the check for a renewed certificate. The kubelet renews a mounted Secret within a minute or two. */
const RELOAD_MS = 10_000;

interface RenewalOptions {
  /** For the log, such as 'metrics certificate'. */
  readonly name: string;
  readonly server: Pick<HttpsServer, 'renew'>;
  /** The certificate that the server uses at first. */
  readonly first: Certificate;
  readonly source: CertificateSource;
  readonly logger: Logger;
  readonly clock?: Clock | undefined;
}

/** Uses a renewed certificate for new connections. While the files are unusable, the previous one stays. */
export function renewalPart(options: RenewalOptions): Part {
  return { name: options.name, stage: 'server', run: (signal) => keepCertificate(options, signal) };
}

async function keepCertificate(o: RenewalOptions, signal: AbortSignal): Promise<void> {
  const { name, server, first, source, logger, clock = systemClock } = o;
  let current = first;
  for (;;) {
    await clock.sleep(RELOAD_MS, signal);
    if (signal.aborted) return;
    try {
      const next = await readCertificate(source);
      if (next.cert !== current.cert || next.key !== current.key) {
        server.renew(next);
        current = next;
        logger.info({ certPath: source.directory }, `${name} renewed`);
      }
    } catch (error) {
      logger.error({ err: error }, `${name} not renewed`);
    }
  }
}
