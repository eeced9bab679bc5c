import { readFileSync } from 'node:fs';
import { TRAFFIC_STACKS } from '../../../src/api/trafficstack/trafficStack.ts';
import { PODS } from '../../../src/runtime/client/resources.ts';
import type { StackScene } from './scene.ts';

/** The existing objects, and the last lines of the logs, for a failure. */
export async function picture(s: StackScene): Promise<string> {
  const stacks = await s.f.client.list(TRAFFIC_STACKS);
  const pods = (await s.f.client.list(PODS)).map(({ metadata, status }) => {
    return `${metadata?.name ?? ''} ${String(metadata?.deletionTimestamp ?? '')} ${status?.phase ?? ''}`;
  });
  const logs = readFileSync(`${s.f.controlPlane.directory}/operators.log`, 'utf8').split('\n').slice(-40);
  const components = stacks.map(({ metadata, status }) => [metadata?.name, ...(status?.components ?? [])]);
  return JSON.stringify({ components, workloads: await s.workloads(), pods, logs }, null, 2);
}
