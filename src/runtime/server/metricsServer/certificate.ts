import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { UsageError } from '../../process/usageError.ts';

/** A certificate chain and its key, in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/**
 * Reads tls.crt and tls.key from a directory, such as a mounted Secret of type kubernetes.io/tls.
 *
 * @throws UsageError that names the unreadable file, or the reason why the pair is unusable
 */
export async function readCertificate(directory: string): Promise<Certificate> {
  // In sequence, so that the error always names the same file if both are absent.
  const cert = await readPem(directory, 'tls.crt');
  const key = await readPem(directory, 'tls.key');
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--metrics-cert-path=${directory}: tls.crt and tls.key cannot be used: ${why}`, {
      cause: error,
    });
  }
  return { cert, key };
}

async function readPem(directory: string, file: string): Promise<string> {
  try {
    return await readFile(join(directory, file), 'utf8');
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new UsageError(
      `--metrics-cert-path=${directory}: ${file} cannot be read (${why}); with --metrics-secure it must hold tls.crt and tls.key`,
      { cause: error },
    );
  }
}
