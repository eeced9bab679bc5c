import { createLogger } from '../process/logger.ts';
import { createTransport } from '../client/transport.ts';
import type { Transport, TransportMetrics, TransportOptions } from '../client/transport.ts';
import { createAuthority } from './certificates.ts';
import type { Authority, KeyPair } from './certificates.ts';
import { kubeConfigFor } from './kubeConfig.ts';
import type { KubeConfigParts } from './kubeConfig.ts';
import { startLocalServer } from './localServer.ts';
import type { Handler, LocalServer, LocalServerOptions } from './localServer.ts';

/** Servers for a test of the transport, transports to them, and their clean-up. */
export interface Scene {
  /** Signed the certificate of every server, and is trusted by every transport. */
  authority: Authority;
  serve(handler: Handler, options?: LocalServerOptions): Promise<LocalServer>;
  transportTo(server: { url: string }, options?: Partial<TransportOptions>, user?: Partial<KubeConfigParts>): Transport;
  /** Called in reverse order by `close`. */
  cleanUps: (() => Promise<unknown>)[];
  /** Ends what was started since the last time. */
  close(): Promise<void>;
}

export function createScene(): Scene {
  const authority = createAuthority('test-ca');
  const keys: KeyPair = authority.issue('server');
  const logger = createLogger('silent');
  const cleanUps: (() => Promise<unknown>)[] = [];
  return {
    authority,
    cleanUps,
    async serve(handler, options) {
      const server = await startLocalServer(handler, { tls: keys, ...options });
      cleanUps.push(() => server.close());
      return server;
    },
    transportTo(server, options, user) {
      const kubeConfig = kubeConfigFor({ server: server.url, ca: authority.cert, ...user });
      const transport = createTransport({ kubeConfig, logger, ...options });
      cleanUps.push(() => transport.close());
      return transport;
    },
    async close() {
      for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
    },
  };
}

/** Metrics that remember. */
export interface RecordedMetrics extends TransportMetrics {
  attempts: { verb: string; resource: string; code: string }[];
  /** The most connections there were at once. */
  mostOpen: number;
  /** The lanes of all connections there were. */
  opened: string[];
}

export function recordMetrics(): RecordedMetrics {
  let open = 0;
  const recorded: RecordedMetrics = {
    attempts: [],
    mostOpen: 0,
    opened: [],
    attemptEnded: (labels) => void recorded.attempts.push(labels),
    connectionOpened(lane) {
      open += 1;
      recorded.opened.push(lane);
      recorded.mostOpen = Math.max(recorded.mostOpen, open);
    },
    connectionClosed() {
      open -= 1;
    },
  };
  return recorded;
}

/** Reads a stream to its end. */
export async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  const iterator = stream[Symbol.asyncIterator]();
  while ((await iterator.next()).done !== true);
}
