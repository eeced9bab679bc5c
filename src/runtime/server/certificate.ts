import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { UsageError } from '../process/usageError.ts';

/** A certificate chain and its key, in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Where a certificate comes from. */
export interface CertificateSource {
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
