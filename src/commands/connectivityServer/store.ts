import type { Agent } from '../../api/agent/report.ts';
import { CrdStore } from '../../connectivity/server/store/crdStore.ts';
import { EtcdClient } from '../../connectivity/server/store/etcd/etcdClient.ts';
import { EtcdFiles, type EtcdTlsPaths } from '../../connectivity/server/store/etcd/etcdFiles.ts';
import { EtcdStore } from '../../connectivity/server/store/etcd/etcdStore.ts';
import type { Reports } from '../../connectivity/server/reports/reports.ts';
import { ReportStore, type StoreBackend } from '../../connectivity/server/store/reportStore.ts';
import type { Client } from '../../runtime/client/client.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ConnectivityServerFlags } from './flags.ts';
import { UsageError } from '../../runtime/process/usageError.ts';

/** The store of the reports. */
export interface ChosenStore {
  readonly store: ReportStore;
  /** The metadata of an Agent object; undefined with etcd. */
  metadataOf(pod: string): Agent['metadata'];
  close(): Promise<void>;
}

/** The dependencies of a store. */
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

/** Where reports are stored. */
type StoreChoice =
  | { readonly kind: 'crd' }
  | {
      readonly kind: 'etcd';
      /** Origins: `https://etcd-0:2379`. */
      readonly endpoints: readonly string[];
      readonly tree: string;
      readonly paths: EtcdTlsPaths;
    };

/** The flags that decide. */
type StoreFlags = Pick<
  ConnectivityServerFlags,
  'kubeproxyinit' | 'etcdEndpoints' | 'etcdTree' | 'etcdCa' | 'etcdCert' | 'etcdKey'
>;

/**
 * Chooses the store as the original:
 *
 * | --kubeproxyinit | --etcd-endpoints | store |
 * |---|---|---|
 * | true | any | Agent objects |
 * | false | none | UsageError |
 * | false | given | etcd |
 *
 * @throws UsageError that names the flags
 */
export function storeChoice(flags: StoreFlags): StoreChoice {
  if (flags.kubeproxyinit) return { kind: 'crd' };
  const given = (flags.etcdEndpoints ?? '').split(',').filter((text) => text.trim() !== '');
  if (given.length === 0) {
    throw new UsageError(
      '--kubeproxyinit=false: reports are then stored in etcd, so --etcd-endpoints must be given; ' +
        'must be true to store them as Agent objects',
    );
  }
  const endpoints = given.map((text) => endpointOf(text.trim()));
  const paths = pathsOf(flags);
  const plain = endpoints.find((endpoint) => endpoint.startsWith('http:'));
  const unused = (['ca', 'cert', 'key'] as const).flatMap((part) =>
    paths[part] === undefined ? [] : [`--etcd-${part}=${paths[part]}`],
  );
  if (plain !== undefined && unused.length > 0) {
    throw new UsageError(`${unused.join(' ')}: not used for ${plain}; --etcd-endpoints must be https with it`);
  }
  return { kind: 'etcd', endpoints, tree: treeOf(flags.etcdTree), paths };
}

function endpointOf(text: string): string {
  const url = URL.parse(text);
  const isOrigin = url !== null && /^https?:\/\/[^/?#@]+\/?$/.test(text) && /^https?:$/.test(url.protocol);
  if (isOrigin) return url.origin;
  const shown = text.replace(/\/\/.*@/, '//[redacted]@');
  throw new UsageError(
    `--etcd-endpoints: ${shown}: must be URLs such as https://etcd-0:2379, with "," between them, without credentials and path`,
  );
}

function pathsOf({ etcdCa, etcdCert, etcdKey }: StoreFlags): EtcdTlsPaths {
  // The original has empty texts as defaults.
  const [ca, cert, key] = [etcdCa, etcdCert, etcdKey].map((path) => (path === '' ? undefined : path));
  if (cert !== undefined && key === undefined) throw new UsageError(`--etcd-cert=${cert}: needs --etcd-key, too`);
  if (key !== undefined && cert === undefined) throw new UsageError(`--etcd-key=${key}: needs --etcd-cert, too`);
  return { ca, cert, key };
}

/** Without the slashes at its ends: "netchecker", "/registry/netchecker". */
function treeOf(text: string): string {
  const tree = text.replace(/\/+$/, '');
  if (tree === '') throw new UsageError(`--etcd-tree=${text}: must be the start of the keys, such as netchecker`);
  return tree;
}
