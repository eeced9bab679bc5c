import { appendFileSync } from 'node:fs';
import type { V1ConfigMap, V1Lease } from '@kubernetes/client-node';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { createClient, leaderOnly } from '../../src/runtime/client/client.ts';
import { systemClock } from '../../src/runtime/process/clock.ts';
import { createInformer } from '../../src/runtime/cache/informer.ts';
import { LeaderElector } from '../../src/runtime/leaderElection/leaderElection.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { CONFIG_MAPS, LEASES } from '../../src/runtime/client/resources.ts';
import { shutdownSignal } from '../../src/runtime/process/shutdown.ts';
import { createTransport } from '../../src/runtime/client/transport.ts';

/**
 * A process of an elected program, for tests: it writes its name into a ConfigMap every 20 ms through the
 * gate for leaders. It never checks whether it leads; the gate must do that.
 *
 *   node electorProcess.ts <kubeconfig> <identity> <file for its events, one JSON object per line>
 */
const [kubeconfig = '', identity = '', journal = ''] = process.argv.slice(2);
const LOCK = { namespace: 'default', name: 'lock' };
const WRITTEN = { namespace: 'default', name: 'written' };

const note = (event: string): void => appendFileSync(journal, `${JSON.stringify({ at: Date.now(), event })}\n`);
const logger = createLogger('info');
const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(kubeconfig);
const transport = createTransport({ kubeConfig, logger });
const leases = createInformer<V1Lease>({
  transport,
  resource: LEASES,
  namespace: LOCK.namespace,
  fieldSelector: `metadata.name=${LOCK.name}`,
  logger,
});
const elector = new LeaderElector({
  transport,
  identity,
  ...LOCK,
  leases,
  logger,
  onStartedLeading: () => note('leading'),
  onStoppedLeading: () => note('stopped'),
});
const client = leaderOnly(createClient(transport), elector);

async function writeOn(signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; count++) {
    const desired: V1ConfigMap = { metadata: WRITTEN, data: { writer: identity, count: `${count}` } };
    note('write');
    await client.apply(CONFIG_MAPS, desired, { fieldManager: 'test', force: true }).then(
      () => undefined,
      () => undefined,
    );
    note('written');
    await systemClock.sleep(20, signal);
  }
}

const alive = setInterval(() => undefined, 1_000);
const stop = shutdownSignal({ signals: process, exit: (code) => process.exit(code), logger });
const caches = new AbortController();
const watching = leases.run(caches.signal);
await leases.whenSynced(stop);
note('synced');
await Promise.all([elector.run(stop), writeOn(stop)]);
caches.abort();
await watching;
await transport.close();
clearInterval(alive);
note('ended');
