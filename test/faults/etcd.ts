import { readFileSync } from 'node:fs';
import type { ControlPlane } from '../harness/controlPlane.ts';

/** Makes etcd forget everything before a revision, by its gRPC gateway; the etcd that the API server was started with. */
export async function compact(plane: ControlPlane, revision: number): Promise<void> {
  const commandLine = readFileSync(`/proc/${plane.pids.apiServer}/cmdline`, 'utf8').split('\0');
  const etcd = commandLine.find((argument) => argument.startsWith('--etcd-servers='))?.slice('--etcd-servers='.length);
  const body = JSON.stringify({ revision: String(revision), physical: true });
  const answer = await fetch(`${etcd ?? ''}/v3/kv/compaction`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`etcd does not compact: ${answer.status} ${await answer.text()}`);
}
