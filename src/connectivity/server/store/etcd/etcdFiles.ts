import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, getCACertificates, type ConnectionOptions } from 'node:tls';
import { UsageError } from '../../../../runtime/process/usageError.ts';

/** Paths of the files for TLS, PEM. Without `ca`, the CAs of the system count. Never both of `cert` and `key` alone. */
export interface EtcdTlsPaths {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

const FLAGS = { ca: '--etcd-ca', cert: '--etcd-cert', key: '--etcd-key' } as const;
type Part = keyof typeof FLAGS;
const PARTS = Object.keys(FLAGS) as Part[];

/** The TLS options of connections to etcd, from files that may be replaced at any time. */
export class EtcdFiles {
  readonly #paths: EtcdTlsPaths;
  #version = '';

  constructor(paths: EtcdTlsPaths) {
    this.#paths = paths;
  }

  /**
   * The options, if a file changed since the last call that succeeded; else undefined.
   *
   * @throws UsageError that names flag and file of what cannot be read or used
   */
  async changed(): Promise<ConnectionOptions | undefined> {
    const version = (await Promise.all(PARTS.map((part) => this.#versionOf(part)))).join(' ');
    if (version === this.#version) return undefined;
    const [ca, cert, key] = await Promise.all(PARTS.map((part) => this.#read(part)));
    const options = { ca: ca ?? systemCas(), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
    this.#check(options);
    this.#version = version;
    return options;
  }

  /** The kubelet replaces a mounted Secret by changing a symbolic link, so the inode changes. */
  async #versionOf(part: Part): Promise<string> {
    const path = this.#paths[part];
    if (path === undefined) return 'none';
    const { ino, mtimeMs, size } = await stat(path).catch((error: unknown) => this.#fail(part, error));
    return `${ino}-${mtimeMs}-${size}`;
  }

  async #read(part: Part): Promise<string | undefined> {
    const path = this.#paths[part];
    if (path === undefined) return undefined;
    const text = await readFile(path, 'utf8').catch((error: unknown) => this.#fail(part, error));
    // TLS treats an empty or truncated file as a file with fewer certificates.
    const count = (mark: string): number => text.split(mark).length - 1;
    const begun = count('-----BEGIN ');
    if (begun === 0 || begun !== count('-----END ')) this.#fail(part, new Error('not PEM, or cut off'));
    return text;
  }

  #check(options: ConnectionOptions): void {
    try {
      createSecureContext(options);
    } catch (error) {
      const part = PARTS.findLast((each) => each !== 'ca' && this.#paths[each] !== undefined) ?? 'ca';
      this.#fail(part, error);
    }
  }

  #fail(part: Part, error: unknown): never {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code?.startsWith('E') === true && !code.startsWith('ERR_') ? code : message;
    throw new UsageError(`${FLAGS[part]}=${this.#paths[part] ?? ''}: cannot be used (${why}); must be a PEM file`, {
      cause: error,
    });
  }
}

/** Returns the CAs of Node.js and of NODE_EXTRA_CA_CERTS, and the CAs of the system or of SSL_CERT_FILE. */
function systemCas(): string[] {
  return [...getCACertificates('default'), ...getCACertificates('system')];
}
