import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { UsageError } from '../process/usageError.ts';
import { systemClock, type Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';
import type { Part } from '../process/part.ts';
import type { HttpsServer } from './httpServer.ts';

/** A certificate chain and its key, in PEM. */
interface Certificate {
  cert: string;
  key: string;
}

/** Where a certificate comes from. */
interface CertificateSource {
  /** With tls.crt and tls.key, such as a mounted Secret of type kubernetes.io/tls. */
  readonly directory: string;
  /** The flag that names the directory, for messages. */
  readonly flag: string;
  /** Why the files must be there, for messages: 'it must hold'. */
  readonly needs: string;
}

/**
 * Reads tls.crt and tls.key from a directory, such as a mounted Secret of type kubernetes.io/tls.
 *
 * @throws UsageError that names the unreadable file, or the reason why the pair is unusable
 */
export async function readCertificate({ directory, flag, needs }: CertificateSource): Promise<Certificate> {
  // In sequence, so that the error always names the same file if both are absent.
  const cert = await readPem({ directory, flag, needs }, 'tls.crt');
  const key = await readPem({ directory, flag, needs }, 'tls.key');
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${flag}=${directory}: tls.crt and tls.key cannot be used: ${why}`, {
      cause: error,
    });
  }
  return { cert, key };
}

async function readPem({ directory, flag, needs }: CertificateSource, file: string): Promise<string> {
  try {
    return await readFile(join(directory, file), 'utf8');
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new UsageError(`${flag}=${directory}: ${file} cannot be read (${why}); ${needs} tls.crt and tls.key`, {
      cause: error,
    });
  }
}

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
