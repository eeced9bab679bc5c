import { execFile } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keepsServers, levelDirectory } from './keptServers.ts';
import { createAuthority, createUser } from './pki.ts';
import { resetTo, snapshotOf, type EtcdSnapshot } from './planeReset.ts';
import { AUDIT_LOG, ETCD_DATA, startApiServer, startEtcd } from './planeServers.ts';
import { freePorts, keepForNextFile, type RunningProcess } from './process.ts';

/** A real etcd and kube-apiserver on loopback, without controllers, scheduler or nodes. */
export interface ControlPlane {
  /** Path of a kubeconfig of a cluster administrator (group system:masters). */
  readonly kubeconfig: string;
  /** https://127.0.0.1:port */
  readonly url: string;
  /** Certificates, kubeconfigs, logs and data. stop removes it. */
  readonly directory: string;
  /** Path of the API server's audit log: one event per line for every request, metadata only (audit.k8s.io/v1). */
  readonly auditLog: string;
  /** The running processes, which a test may pause (SIGSTOP, SIGCONT). */
  readonly pids: { readonly etcd: number; readonly apiServer: number };
  /** Path of a kubeconfig of another user, for tests of RBAC. */
  user(name: string, groups?: readonly string[]): Promise<string>;
  /** Kills the API server. Its port refuses connections until startApiServer. */
  stopApiServer(): Promise<void>;
  /** Starts the API server again, with the same port and data. */
  startApiServer(): Promise<void>;
  /** Kills both servers. The directory stays. */
  stopServers(): Promise<void>;
  /** Stops everything and removes the directory. */
  stop(): Promise<void>;
}

/** Where etcdTemplate puts the path of the data with which each etcd of a level begins. */
export const TEMPLATE_VARIABLE = 'TRAFFIC_OPERATOR_TEST_ETCD';
/** User, request and response status; times of the response and, for a watch, of its end. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  omitManagedFields: true,
  rules: [{ level: 'Metadata' }],
};

/** An idle API server takes 1 to 2 % of a processor, and half a GiB. */
const MOST_IDLE = 2;

interface Kept {
  readonly plane: OwnControlPlane;
  readonly snapshot: EtcdSnapshot;
  readonly key: string;
}

/** Idle planes of this worker, the longest idle first. */
const idle: Kept[] = [];

/** Options of a control plane. */
export interface ControlPlaneOptions {
  /** Content of the audit log, of kind Policy (audit.k8s.io/v1). Default: everything. */
  auditPolicy?: object;
  etcdFlags?: readonly string[];
  apiServerFlags?: readonly string[];
  /** Whether pods need a ServiceAccount that exists. Default: false, since no controller makes the default one. */
  serviceAccounts?: boolean;
}

/** A control plane with what it consists of. */
export interface OwnControlPlane extends ControlPlane {
  /** http://127.0.0.1:port */
  readonly etcdUrl: string;
  readonly processes: readonly RunningProcess[];
}

/**
 * A control plane with no objects but those that an API server makes by itself. Where the level keeps control planes (see keptServers.ts), it
 * may be the one of an earlier file, emptied; otherwise it is started, which takes about 5 s.
 *
 * @throws Error with the end of the log of the server that failed
 */
export function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  return keepsServers() && isPlain(options) ? takeControlPlane(options) : startOwnControlPlane(options);
}

/** Starts a control plane that no other file had or will have. @throws Error with the end of the log of the server that failed */
export async function startOwnControlPlane(options: ControlPlaneOptions = {}): Promise<OwnControlPlane> {
  const directory = await mkdtemp(join(levelDirectory(), 'traffic-control-plane-'));
  const [client, peer, secure] = (await freePorts(3)) as [number, number, number];
  const url = `https://127.0.0.1:${secure}`;
  const running: RunningProcess[] = [];
  const stopServers = async (): Promise<void> => {
    await Promise.all(running.map((each) => each.stop()));
  };
  const stop = async (): Promise<void> => {
    await stopServers();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await createAuthority(directory);
    await writeFile(`${directory}/audit-policy.yaml`, JSON.stringify(options.auditPolicy ?? AUDIT_POLICY));
    // The API server appends to a file that is there, so that it can be emptied while it runs.
    await writeFile(`${directory}/${AUDIT_LOG}`, '');
    const kubeconfig = await createUser(directory, url, 'admin', ['system:masters']);
    const template = isPlain(options) ? process.env[TEMPLATE_VARIABLE] : undefined;
    if (template !== undefined) await copyEtcdData(template, directory);
    const etcd = await startEtcd(directory, client, peer, options.etcdFlags);
    running.push(etcd);
    const startServer = (): Promise<RunningProcess> => startApiServer(directory, client, secure, flagsOf(options));
    let apiServer = await startServer();
    running.push(apiServer);
    return {
      kubeconfig,
      url,
      directory,
      auditLog: `${directory}/${AUDIT_LOG}`,
      etcdUrl: `http://127.0.0.1:${client}`,
      processes: running,
      get pids() {
        return { etcd: etcd.pid, apiServer: apiServer.pid };
      },
      user: (name, groups) => createUser(directory, url, name, groups),
      stopApiServer: () => apiServer.stop(),
      startApiServer: async () => {
        apiServer = await startServer();
        running.push(apiServer);
      },
      stopServers,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Copies the data of an etcd that does not run into `directory`. Most of a log of etcd is reserved, and empty. */
export async function copyEtcdData(from: string, directory: string): Promise<void> {
  await promisify(execFile)('cp', ['-r', '--sparse=always', from, join(directory, ETCD_DATA)]);
}

function flagsOf({ serviceAccounts = false, apiServerFlags = [] }: ControlPlaneOptions): string[] {
  return [...(serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']), ...apiServerFlags];
}

/** With other flags, an API server may make other things at its first start. */
function isPlain({ etcdFlags, apiServerFlags }: ControlPlaneOptions): boolean {
  return etcdFlags === undefined && apiServerFlags === undefined;
}

/**
 * An idle control plane of this worker with the same options, emptied, or a new one. After `stop`, the next file may have it; but not one
 * whose servers the test may have paused, ended or started again: `stop` ends these.
 */
async function takeControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const key = JSON.stringify(options);
  const found = idle.findIndex((one) => one.key === key);
  const [kept] = found < 0 ? [] : idle.splice(found, 1);
  if (kept !== undefined && (await isEmptied(kept))) return lend(kept);
  const plane = await startOwnControlPlane(options);
  plane.processes.forEach(keepForNextFile);
  return lend({ plane, key, snapshot: await snapshotOf(plane.etcdUrl) });
}

/** Only now: before, processes of the file that returned it may have written. One that cannot be emptied is ended. */
async function isEmptied({ plane, snapshot }: Kept): Promise<boolean> {
  try {
    await resetTo(plane.etcdUrl, snapshot);
    await truncate(plane.auditLog);
    return true;
  } catch (error) {
    console.warn('a control plane of an earlier file is not used again:', error);
    await plane.stop();
    return false;
  }
}

function lend(kept: Kept): ControlPlane {
  const { plane } = kept;
  let [isTouched, isStopped] = [false, false];
  const touched = (): OwnControlPlane => {
    isTouched = true;
    return plane;
  };
  return {
    ...{ kubeconfig: plane.kubeconfig, url: plane.url, directory: plane.directory, auditLog: plane.auditLog },
    get pids() {
      return touched().pids;
    },
    user: (name, groups) => plane.user(name, groups),
    stopApiServer: () => touched().stopApiServer(),
    startApiServer: () => touched().startApiServer(),
    stopServers: () => touched().stopServers(),
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      await (isTouched ? plane.stop() : giveBack(kept));
    },
  };
}

async function giveBack(kept: Kept): Promise<void> {
  idle.push(kept);
  if (idle.length > MOST_IDLE) await idle.shift()!.plane.stop();
}
