import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Problem } from '../../runtime/process/problem.ts';

/** The certificates of a file, PEM, or why there are none. */
type ServerCa = { readonly ca: string } | { readonly problem: Problem };

/** One certificate in PEM (RFC 7468). */
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads the CA of the server. Only certificates are taken from the file: agents get no key that somebody put there.
 *
 * @param secret name of the Secret that the file is of, for messages
 */
export async function readServerCa(file: string, secret: string): Promise<ServerCa> {
  try {
    const certificates = (await readFile(file, 'utf8')).match(CERTIFICATE) ?? [];
    if (certificates.length === 0) return problem(file, secret, 'it has no certificate in PEM');
    for (const certificate of certificates) new X509Certificate(certificate);
    return { ca: `${certificates.join('\n')}\n` };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return problem(file, secret, code ?? message);
  }
}

function problem(file: string, secret: string, why: string): { problem: Problem } {
  const object = `Secret ${secret}`;
  const message = `${object}: ca.crt cannot be used (${file}: ${why}); put the CA of tls.crt there. Until then, the server and the agents are unchanged`;
  return { problem: { reason: 'ServerCaUnusable', object, message } };
}
