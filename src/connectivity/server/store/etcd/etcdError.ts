/** A request to etcd that failed. The message names the endpoint. */
export class EtcdError extends Error {
  /** HTTP status of the answer; undefined without an answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EtcdError';
    this.status = status;
  }

  /** True if another member of the cluster may answer better: no answer, or a server error such as "no leader". */
  get isOfEndpoint(): boolean {
    return this.status === undefined || this.status >= 500;
  }
}

/** The codes of Node.js for an endpoint's certificate that is not trusted; for codes of OpenSSL, see verify(1). */
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
];

/**
 * Explains a connection that failed:
 *
 * | failure | message |
 * |---|---|
 * | the certificate is not signed by a trusted CA | names --etcd-ca, or the CAs of the system |
 * | the certificate is for other names | names the host and --etcd-endpoints |
 * | else | the words of Node.js |
 *
 * @param ca the file of --etcd-ca; undefined: the CAs of the system
 */
export function connectionError(endpoint: string, error: unknown, ca: string | undefined): EtcdError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new EtcdError(`etcd at ${endpoint}: ${explained(endpoint, code, message, ca)}`, undefined, { cause: error });
}

function explained(endpoint: string, code: string, message: string, ca: string | undefined): string {
  if (UNTRUSTED.includes(code)) {
    const authority = ca === undefined ? 'a CA of the system; set --etcd-ca' : `the CA in --etcd-ca=${ca}`;
    return `its certificate is refused: it is not signed by ${authority} (${message})`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const { hostname } = new URL(endpoint);
    return `its certificate is refused: it is not for ${hostname}, the host in --etcd-endpoints (${message})`;
  }
  return code === '' || message.includes(code) ? message : `${message} (${code})`;
}
