import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { UsageError } from '../../process/usageError.ts';

/** A certificate chain and its key, PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/**
 * Reads tls.crt and tls.key from a directory, as a Secret of type kubernetes.io/tls is mounted.
 *
 * @throws UsageError naming the file that cannot be read, or why the pair cannot be used
 */
export async function readCertificate(directory: string): Promise<Certificate> {
  // One after the other: where both are absent it is always the same that is named.
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
