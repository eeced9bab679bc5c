import { existsSync, readFileSync } from 'node:fs';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { binary } from '../lab/binaries.ts';
import { startControlPlane, startOwnControlPlane } from '../harness/controlPlane.ts';
import type { ControlPlane } from '../harness/controlPlane.ts';
import { established } from '../harness/customResource.ts';

const run = promisify(execFile);
let plane: ControlPlane;

async function kubectl(kubeconfig: string, ...args: string[]): Promise<string> {
  return (await run(await binary('kubectl'), [`--kubeconfig=${kubeconfig}`, ...args])).stdout.trim();
}

function isRunning(pid: number): boolean {
  // A pid of 0 or less would mean a process group.
  expect(pid).toBeGreaterThan(0);
  return existsSync(`/proc/${pid}`);
}

describe('the control plane of the integration tests', () => {
  beforeAll(async () => {
    plane = await startControlPlane();
  });
  afterAll(() => plane.stop());

  it('serves an administrator, since tests write all kinds of objects', async () => {
    expect(await kubectl(plane.kubeconfig, 'create', 'configmap', 'kept', '-oname')).toBe('configmap/kept');
  });

  it('enforces RBAC, since tests check what the operator may not do', async () => {
    const stranger = await plane.user('stranger');
    await expect(kubectl(stranger, 'get', 'nodes')).rejects.toThrow('forbidden');
  });

  it('refuses connections while the API server is down, and keeps its objects', async () => {
    const before = plane.pids.apiServer;
    await plane.stopApiServer();
    await expect(kubectl(plane.kubeconfig, 'get', 'configmap', 'kept')).rejects.toThrow('refused');
    await plane.startApiServer();
    expect(plane.pids.apiServer).not.toBe(before);
    expect(await kubectl(plane.kubeconfig, 'get', 'configmap', 'kept', '-oname')).toBe('configmap/kept');
  });
});

describe('a control plane that an earlier file had', () => {
  const CRD = fileURLToPath(new URL('../../deploy/crds/traffic.example.com_trafficwatches.yaml', import.meta.url));
  const objects = (kubeconfig: string): Promise<string> =>
    kubectl(
      kubeconfig,
      'get',
      'namespaces,clusterroles,clusterrolebindings,crds,nodes,services,configmaps',
      '-A',
      '-ojson',
    );
  const withoutVersions = (list: string): string => list.replaceAll(/"resourceVersion": "\d+"/g, '');

  it('has the same objects as before, serves no CRD, and its audit log is empty', async () => {
    const first = await startControlPlane();
    await vi.waitFor(() => kubectl(first.kubeconfig, 'get', 'service', 'kubernetes'));
    const before = await objects(first.kubeconfig);
    const user = await first.user('reader');
    await kubectl(
      first.kubeconfig,
      'create',
      'clusterrolebinding',
      'r',
      '--clusterrole=cluster-admin',
      '--user=reader',
    );
    await kubectl(first.kubeconfig, 'create', 'namespace', 'kept');
    await kubectl(first.kubeconfig, 'label', 'namespace', 'default', 'changed=yes');
    await kubectl(first.kubeconfig, 'delete', 'clusterrole', 'view');
    await kubectl(first.kubeconfig, 'apply', '-f', CRD);
    await established((args) => kubectl(first.kubeconfig, ...args), ['-f', CRD]);
    await vi.waitFor(() => kubectl(user, 'get', 'trafficwatches', '-A'));
    expect(await kubectl(first.kubeconfig, 'get', '--raw=/apis')).toContain('traffic.example.com');
    await first.stop();
    const next = await startControlPlane();
    expect(next.directory).toBe(first.directory);
    expect(readFileSync(next.auditLog, 'utf8')).toBe('');
    expect(withoutVersions(await objects(next.kubeconfig))).toBe(withoutVersions(before));
    await expect(kubectl(user, 'get', 'nodes')).rejects.toThrow('forbidden');
    expect(await kubectl(next.kubeconfig, 'get', '--raw=/apis')).not.toContain('traffic.example.com');
    await next.stop();
  });

  it('is a new one if its API server was ended', async () => {
    const first = await startControlPlane();
    await first.stopApiServer();
    await first.stop();
    const next = await startControlPlane();
    expect(next.directory).not.toBe(first.directory);
    await next.stop();
  });
});

describe('the end of a control plane', () => {
  it('leaves no process and no file when stopped', async () => {
    const control = await startOwnControlPlane();
    const { pids, directory } = control;
    await control.stop();
    expect([isRunning(pids.etcd), isRunning(pids.apiServer), existsSync(directory)]).toEqual([false, false, false]);
  });

  it('leaves no process when the test process is killed', async () => {
    const module = new URL('../harness/controlPlane.ts', import.meta.url).href;
    const script = `const p = await (await import('${module}')).startOwnControlPlane();
      console.log(JSON.stringify({ pids: p.pids, directory: p.directory })); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown];
    const { pids, directory } = JSON.parse(String(line)) as Pick<ControlPlane, 'pids' | 'directory'>;
    expect([isRunning(pids.etcd), isRunning(pids.apiServer)]).toEqual([true, true]);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect([isRunning(pids.etcd), isRunning(pids.apiServer)]).toEqual([false, false]));
    await rm(directory, { recursive: true });
  });
});
