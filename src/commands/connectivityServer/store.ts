import type { Agent } from '../../api/agent/schema.ts';
import { CrdStore } from '../../connectivity/server/store/crdStore.ts';
import { EtcdClient } from '../../connectivity/server/store/etcd/etcdClient.ts';
import { EtcdFiles } from '../../connectivity/server/store/etcd/etcdFiles.ts';
import { EtcdStore } from '../../connectivity/server/store/etcd/etcdStore.ts';
import type { Reports } from '../../connectivity/server/reports/reports.ts';
import { ReportStore, type StoreBackend } from '../../connectivity/server/store/reportStore.ts';
import type { Client } from '../../runtime/client/client.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ConnectivityServerFlags } from './flags.ts';
import type { StoreChoice } from './storeChoice.ts';

/** The store of the reports. */
export interface ChosenStore {
  readonly store: ReportStore;
  /** The metadata of an Agent object; undefined with etcd. */
  metadataOf(pod: string): Agent['metadata'];
  close(): Promise<void>;
}

/** What a store needs. */
interface StoreParts {
  readonly choice: StoreChoice;
  readonly flags: ConnectivityServerFlags;
  readonly client: Client;
  readonly reports: Reports;
  readonly logger: Logger;
}

/**
 * Creates the chosen store. Nothing is sent yet.
 *
 * @throws UsageError if files of etcd cannot be used
 */
export async function createStore({ choice, flags, client, reports, logger }: StoreParts): Promise<ChosenStore> {
  const ttlMs = flags.reportTtl * 1_000;
  const storeOf = (backend: StoreBackend): ReportStore =>
    new ReportStore({ backend, reports, ttlMs, clock: systemClock, logger });
  if (choice.kind === 'crd') {
    const backend = new CrdStore({ client, namespace: flags.agentsNamespace });
    return { store: storeOf(backend), metadataOf: (pod) => backend.metadataOf(pod), close: () => Promise.resolve() };
  }
  const etcd = await etcdClient(choice, logger);
  const pingTimeoutMs = flags.pingTimeout * 1_000;
  const backend = new EtcdStore({ client: etcd, tree: choice.tree, ttlMs, pingTimeoutMs, logger });
  return { store: storeOf(backend), metadataOf: () => undefined, close: () => etcd.close() };
}

async function etcdClient(
  { endpoints, paths }: Extract<StoreChoice, { kind: 'etcd' }>,
  logger: Logger,
): Promise<EtcdClient> {
  // Unusable files end the process at its start, and not an hour later.
  await new EtcdFiles(paths).changed();
  return new EtcdClient({ endpoints, files: new EtcdFiles(paths), ca: paths.ca, logger });
}
