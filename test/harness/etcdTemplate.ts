import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyEtcdData, ETCD_DATA, startControlPlane, TEMPLATE_VARIABLE } from './controlPlane.ts';

/**
 * Starts a control plane once for all files of a level, and keeps the data of its etcd. An API server that finds there what it makes at its
 * first start, such as the roles of RBAC, takes a fourth less CPU time until it is ready: 2.2 s in place of 3.0 s.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-etcd-template-'));
  const plane = await startControlPlane();
  try {
    await plane.stopServers();
    await copyEtcdData(join(plane.directory, ETCD_DATA), directory);
  } finally {
    await plane.stop();
  }
  // What vitest starts inherits it.
  process.env[TEMPLATE_VARIABLE] = join(directory, ETCD_DATA);
  return () => rm(directory, { recursive: true, force: true });
}
