import type { Part } from '../../runtime/process/part.ts';
import { readCertificate } from '../../runtime/server/certificate.ts';
import { renewalPart } from '../../runtime/server/certificateRenewal.ts';
import { serverPart } from '../../runtime/server/httpListener.ts';
import { createHttpServer, createHttpsListener, type HttpServerOptions } from '../../runtime/server/httpServer.ts';

/**
 * Serves HTTP or, with a certificate, HTTPS (TLS 1.2 or newer) on the same address. A renewed certificate is used for new
 * connections.
 *
 * @param certPath directory with tls.crt and tls.key
 * @throws UsageError if the certificate is unusable
 */
export async function listenerParts(
  options: HttpServerOptions,
  certPath: string | undefined,
): Promise<readonly Part[]> {
  if (certPath === undefined) return [serverPart(createHttpServer(options))];
  const source = { directory: certPath, flag: '--tls-cert-path', needs: 'it must hold' };
  const first = await readCertificate(source);
  const server = createHttpsListener(options, { ...first, http2: false });
  const { logger } = options;
  return [serverPart(server.listener), renewalPart({ name: 'server certificate', server, first, source, logger })];
}
