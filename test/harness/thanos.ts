import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from './httpServer.ts';
import type { HttpServer } from './httpServer.ts';
import { freePorts, whenReady } from './process.ts';
import { startPrometheus } from './prometheus.ts';
import type { RunningPrometheus } from './prometheus.ts';

/** External label of the two Prometheus. */
export const REPLICA_LABEL = 'replica';

/** One of an HA pair of Prometheus, with a Thanos sidecar. */
export interface Replica {
  /** Stops Prometheus, or the sidecar, and removes its samples. */
  stop(what: 'prometheus' | 'sidecar'): Promise<void>;
  /** Starts it again, at the same address, without samples. */
  start(what: 'prometheus' | 'sidecar'): Promise<void>;
}

/** An HA pair of Prometheus behind Thanos (https://github.com/thanos-io/thanos). */
export interface ThanosPair {
  readonly replicas: readonly [Replica, Replica];
  /** A Thanos Query that knows the replica label, and gives each series once. */
  readonly deduplicatedUrl: string;
  /** A Thanos Query that does not, and gives each series once for each replica. */
  readonly plainUrl: string;
  stop(): Promise<void>;
}

/** The parts of a replica, at fixed ports. */
class SidecarReplica implements Replica {
  readonly grpcAddress: string;
  readonly #name: string;
  readonly #config: object;
  readonly #ports: readonly [prometheus: number, grpc: number, http: number];
  #prometheus: RunningPrometheus | undefined;
  #sidecar: HttpServer | undefined;

  constructor(name: string, config: object, ports: readonly [number, number, number]) {
    this.#name = name;
    this.#config = config;
    this.#ports = ports;
    this.grpcAddress = `127.0.0.1:${ports[1]}`;
  }

  async start(what: 'prometheus' | 'sidecar'): Promise<void> {
    if (what === 'prometheus') {
      const { global } = this.#config as { global?: object };
      const config = { ...this.#config, global: { ...global, external_labels: { [REPLICA_LABEL]: this.#name } } };
      this.#prometheus = await startPrometheus({ config, port: this.#ports[0] });
      return;
    }
    const directory = await mkdtemp(join(tmpdir(), 'traffic-thanos-sidecar-'));
    const args = (address: string): string[] => [
      'sidecar',
      `--prometheus.url=http://127.0.0.1:${this.#ports[0]}`,
      `--tsdb.path=${directory}`,
      // A sidecar whose Prometheus was away is away itself until it asks again. The default is 30s.
      '--prometheus.get_config_interval=5s',
      ...addresses(address, this.grpcAddress),
    ];
    this.#sidecar = await startServer({ name: 'thanos', args, readyPath: '/-/ready', directory, port: this.#ports[2] });
  }

  async stop(what: 'prometheus' | 'sidecar'): Promise<void> {
    await (what === 'prometheus' ? this.#prometheus : this.#sidecar)?.stop();
  }
}

/**
 * Starts two Prometheus of the same configuration, that differ in the external label `replica`: a and b, a sidecar for
 * each, and two Thanos Query over both.
 */
export async function startThanosPair(config: object): Promise<ThanosPair> {
  const ports = await freePorts(6);
  const replicas = [
    new SidecarReplica('a', config, ports.slice(0, 3) as [number, number, number]),
    new SidecarReplica('b', config, ports.slice(3) as [number, number, number]),
  ] as const;
  for (const what of ['prometheus', 'sidecar'] as const) await Promise.all(replicas.map((each) => each.start(what)));
  const sidecars = replicas.map(({ grpcAddress }) => grpcAddress);
  const queries = await Promise.all([
    startThanosQuery(sidecars, [`--query.replica-label=${REPLICA_LABEL}`]),
    startThanosQuery(sidecars, []),
  ]);
  const stop = async (): Promise<void> => {
    const parts = replicas.flatMap((each) => [each.stop('sidecar'), each.stop('prometheus')]);
    await Promise.all([...queries.map((each) => each.stop()), ...parts]);
  };
  return { replicas, deduplicatedUrl: queries[0].url, plainUrl: queries[1].url, stop };
}

async function startThanosQuery(sidecars: readonly string[], flags: readonly string[]): Promise<HttpServer> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-thanos-query-'));
  const [grpc] = (await freePorts(1)) as [number];
  const args = (address: string): string[] => [
    'query',
    ...sidecars.map((sidecar) => `--endpoint=${sidecar}`),
    ...addresses(address, `127.0.0.1:${grpc}`),
    ...flags,
  ];
  const server = await startServer({ name: 'thanos', args, readyPath: '/-/ready', directory });
  const isConnected = async (): Promise<boolean> => {
    const answer = (await (await fetch(`${server.url}/api/v1/stores`)).json()) as { data?: { sidecar?: unknown[] } };
    return answer.data?.sidecar?.length === sidecars.length;
  };
  await whenReady('thanos query', { ...server, ended: Promise.resolve(), check: () => undefined }, isConnected);
  return server;
}

function addresses(http: string, grpc: string): string[] {
  return [
    `--http-address=${http}`,
    `--grpc-address=${grpc}`,
    '--http-grace-period=0s',
    '--grpc-grace-period=0s',
    '--log.level=warn',
  ];
}
