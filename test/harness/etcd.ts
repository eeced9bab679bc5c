import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary } from '../lab/binaries.ts';
import { freePorts, start, whenReady, type RunningProcess } from './process.ts';

/** A key in etcd. */
export interface EtcdValue {
  readonly key: string;
  readonly value: string;
  /** "0" without a lease. */
  readonly lease: string;
}

/** A real etcd of its own on loopback. */
export interface Etcd {
  /** http(s)://127.0.0.1:port */
  readonly url: string;
  readonly pid: number;
  /** All keys that start with `prefix`. */
  values(prefix: string): Promise<EtcdValue[]>;
  /** The number of changes until now: one for each transaction. */
  revision(): Promise<number>;
  /** Sends a request to the JSON gateway. */
  call(path: string, body: object): Promise<unknown>;
  /** Kills it. Its port refuses connections until `startAgain`, which keeps the data. */
  halt(): Promise<void>;
  startAgain(): Promise<void>;
  /** Ends it, and removes its data. */
  stop(): Promise<void>;
}

/** Files of an authority, as pki.ts writes them. */
export interface EtcdTls {
  /** With ca.crt, `<server>.crt` and `<client>.crt` and their keys. */
  readonly directory: string;
  readonly server: string;
  readonly client: string;
}

/** @param tls with it, etcd serves TLS and demands a client certificate */
export async function startEtcd(tls?: EtcdTls): Promise<Etcd> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-etcd-'));
  const [client, peer] = (await freePorts(2)) as [number, number];
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${client}`;
  const call = (path: string, body: object): Promise<unknown> => post(`${url}${path}`, body, tls);
  const run = async (): Promise<RunningProcess> => {
    const running = start(await binary('etcd'), argsOf(directory, url, peer, tls), `${directory}/etcd.log`);
    await whenReady('etcd', running, async () => (await call('/v3/maintenance/status', {})) !== undefined);
    return running;
  };
  let running = await run();
  return {
    url,
    get pid() {
      return running.pid;
    },
    call,
    values: (prefix) => valuesOf(call, prefix),
    revision: async () => {
      const { header } = (await call('/v3/kv/range', { key: base64('none') })) as { header: { revision: string } };
      return Number(header.revision);
    },
    halt: () => running.stop(),
    startAgain: async () => {
      running = await run();
    },
    stop: async () => {
      await running.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function argsOf(directory: string, url: string, peer: number, tls: EtcdTls | undefined): string[] {
  const peerUrl = `http://127.0.0.1:${peer}`;
  const file = (name: string): string => `${tls?.directory ?? ''}/${name}`;
  return [
    `--data-dir=${directory}/data`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync', // nothing here outlives the test
    '--log-level=warn',
    ...(tls === undefined
      ? []
      : [
          `--cert-file=${file(`${tls.server}.crt`)}`,
          `--key-file=${file(`${tls.server}.key`)}`,
          `--trusted-ca-file=${file('ca.crt')}`,
          '--client-cert-auth',
        ]),
  ];
}

async function valuesOf(call: Etcd['call'], prefix: string): Promise<EtcdValue[]> {
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  const answer = await call('/v3/kv/range', { key: base64(prefix), range_end: base64(end) });
  const { kvs = [] } = answer as { kvs?: { key: string; value: string; lease?: string }[] };
  return kvs.map(({ key, value, lease = '0' }) => ({ key: text(key), value: text(value), lease }));
}

function post(url: string, body: object, tls: EtcdTls | undefined): Promise<unknown> {
  const file = (name: string): Buffer => readFileSync(`${tls?.directory ?? ''}/${name}`);
  const identity =
    tls === undefined ? {} : { ca: file('ca.crt'), cert: file(`${tls.client}.crt`), key: file(`${tls.client}.key`) };
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent: false, ...identity } as const;
    const call = (tls === undefined ? request : secureRequest)(url, options, (answer) => {
      let json = '';
      answer.setEncoding('utf8').on('data', (part: string) => (json += part));
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(JSON.parse(json));
        else reject(new Error(`${url}: ${answer.statusCode ?? 0} ${json}`));
      });
    });
    call.once('error', reject).end(JSON.stringify(body));
  });
}

/** As the JSON gateway wants keys and values. */
export function base64(value: string): string {
  return Buffer.from(value).toString('base64');
}

/** A key or value of the JSON gateway. */
export function text(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString();
}
