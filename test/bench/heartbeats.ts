import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { binary } from '../lab/binaries.ts';
import { start } from '../harness/process.ts';
import type { World } from './world.ts';

/** A kubelet reports an unchanged status every 5 minutes (nodeStatusReportFrequency). */
const HEARTBEAT_MS = 300_000;

const CONDITIONS = `
{{ $now := Now }}
{{ $lastTransitionTime := or .metadata.creationTimestamp $now }}
conditions:
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $lastTransitionTime | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
`;

const STAGE = {
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name: 'node-heartbeat' },
  spec: {
    resourceRef: { apiGroup: 'v1', kind: 'Node' },
    selector: { matchExpressions: [{ key: '.metadata.name', operator: 'Exists' }] },
    // Uniformly random between these two, for each node and heartbeat.
    delay: { durationMilliseconds: 1_000, jitterDurationMilliseconds: 2 * HEARTBEAT_MS - 1_000 },
    next: { statusTemplate: CONDITIONS },
  },
};

/**
 * Lets kwok report the status of all nodes as kubelets do. Leases are left out: they do not change Nodes, and 10,000
 * nodes write 1,000 of them a second, which is more than an API server on two cores can process.
 */
export async function startHeartbeats({ plane }: World): Promise<{ stop(): Promise<void> }> {
  const { directory, kubeconfig } = plane.controlPlane;
  const config = join(directory, 'kwok.json');
  await writeFile(config, JSON.stringify(STAGE));
  const flags = ['--manage-all-nodes=true', '--node-lease-duration-seconds=0', '--server-address=', '--node-ip='];
  const kwok = start(
    await binary('kwok'),
    [`--kubeconfig=${kubeconfig}`, `--config=${config}`, ...flags],
    join(directory, 'kwok.log'),
  );
  return { stop: () => kwok.stop() };
}
