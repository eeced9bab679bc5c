import { pino } from 'pino';
import { createTransport } from '../client/transport.ts';
import { createAuthority } from './certificates.ts';
import { kubeConfigFor } from './kubeConfig.ts';
import { startLocalServer } from './localServer.ts';

/**
 * Cancels writes at various moments around their sending, and then makes a write that must succeed. Runs as a separate program,
 * because the failure that it looks for stops the whole process.
 */
const authority = createAuthority('test');
const server = await startLocalServer((_, reply) => reply.json(200, {}), { tls: authority.issue('localhost') });
const kubeConfig = kubeConfigFor({ server: server.url, ca: authority.cert });
const transport = createTransport({ kubeConfig, logger: pino({ level: 'silent' }) });
const moments: ((then: () => void) => void)[] = [
  (then) => then(),
  (then) => queueMicrotask(then),
  (then) => process.nextTick(then),
  (then) => setImmediate(then),
  (then) => setImmediate(() => setImmediate(then)),
];
const write = { method: 'PATCH' as const, path: '/api/v1/nodes/a', body: { text: 'x'.repeat(200) } };

await transport.request(write);
for (let count = 0; count < 200; count++) {
  const off = new AbortController();
  const moment = moments[count % moments.length];
  const guard = (): void => moment?.(() => off.abort());
  await transport.request({ ...write, signal: off.signal, guard }).catch(() => undefined);
}
await transport.request(write);
process.exit(0);
