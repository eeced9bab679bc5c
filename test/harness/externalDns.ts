import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { binary } from '../lab/binaries.ts';
import type { Aws } from './moto.ts';
import { start, type RunningProcess } from './process.ts';

const run = promisify(execFile);
const MODULE = fileURLToPath(new URL('../lab/modules/external-dns', import.meta.url));
const CRD = 'config/crd/standard/dnsendpoints.externaldns.k8s.io.yaml';
const TIMEOUT_MS = 120_000;
/** Flags of an external-dns that runs every 2 s, and at each change. Its defaults are a minute, and no run at changes. */
export const OFTEN = ['--interval=2s', '--events', '--min-event-sync-interval=1s'];

/** The CRD of DNSEndpoints, as the module of external-dns has it. */
export async function dnsEndpointCrd(): Promise<V1CustomResourceDefinition> {
  return parse(
    await readFile(join(await directoryOf('sigs.k8s.io/external-dns'), CRD), 'utf8'),
  ) as V1CustomResourceDefinition;
}

/** Where the sources of a Go module are. */
async function directoryOf(module: string): Promise<string> {
  const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd: MODULE });
  return stdout.trim();
}

/** The CRDs of Gateways, HTTPRoutes and ListenerSets, of the Gateway API's release that external-dns is built with. */
export async function gatewayApiCrds(): Promise<V1CustomResourceDefinition[]> {
  const directory = await directoryOf('sigs.k8s.io/gateway-api');
  const read = async (plural: string): Promise<V1CustomResourceDefinition> =>
    parse(
      await readFile(join(directory, `config/crd/standard/gateway.networking.k8s.io_${plural}.yaml`), 'utf8'),
    ) as V1CustomResourceDefinition;
  return Promise.all(['gateways', 'httproutes', 'listenersets'].map(read));
}

/** One run of external-dns, which publishes the DNSEndpoints of a cluster as record sets. */
export interface Sync {
  readonly kubeconfig: string;
  /** Its mark on record sets: each cluster needs its own. */
  readonly owner: string;
  readonly domain: string;
  /** Further flags. */
  readonly flags?: readonly string[];
  readonly aws: Pick<Aws, 'environment'>;
}

/** Runs the real external-dns for one pass. @throws Error with its log if it failed */
export async function syncRecords({ aws, ...sync }: Sync): Promise<void> {
  const env = { ...process.env, ...aws.environment };
  await run(await binary('external-dns'), [...flagsOf(sync), '--once'], { env, timeout: TIMEOUT_MS });
}

/** Starts the real external-dns, which looks every 2 s, and at each change. */
export async function startExternalDns({ aws, ...sync }: Sync, log: string): Promise<RunningProcess> {
  return start(await binary('external-dns'), [...flagsOf(sync), ...OFTEN], log, aws.environment);
}

/** Flags of a cluster's external-dns, as docs/weights.md has them. */
export function flagsOfCluster({ owner, domain }: Pick<Sync, 'owner' | 'domain'>): string[] {
  return [
    ...['--source=crd', '--provider=aws', '--registry=txt', '--policy=sync'],
    ...[`--txt-owner-id=${owner}`, `--domain-filter=${domain}`],
  ];
}

function flagsOf({ kubeconfig, flags = [], ...cluster }: Omit<Sync, 'aws'>): string[] {
  // The default of the address is a fixed port, which only one of two tests at the same time would get.
  return [...flagsOfCluster(cluster), `--kubeconfig=${kubeconfig}`, '--metrics-address=127.0.0.1:0', ...flags];
}
