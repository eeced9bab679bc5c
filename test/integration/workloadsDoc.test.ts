import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODES, PODS } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import type { RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { binary } from '../lab/binaries.ts';
import { giveRoom, startControllers, untilInjected } from './injection/world.ts';

/** The commands of docs/workloads.md, word for word, on a real API server with the policy and the real controllers. */
const TEXT = readFileSync(new URL('../../docs/workloads.md', import.meta.url), 'utf8');
const [, COMMANDS = '', OUTPUT = ''] = /\n## Try it\n[^]*?```sh\n([^]*?)```[^]*?```json\n([^]*?)```/.exec(TEXT) ?? [];
const NODE = 'n1';

let f: Fixture;
let c: Connected;
let controllers: RunningProcess[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: [NODE] });
  c = connect(f.controlPlane);
  await giveRoom(f, [NODE]);
  // No kubelet reports for it.
  await f.client.mergePatch(NODES, { name: NODE }, { spec: { taints: null } }, { fieldManager: 'person' });
  await installPlacementPolicy(f.client);
  controllers = await startControllers(f, ['deployment-controller', 'replicaset-controller']);
  await f.startOperator();
  // The API server uses a new policy after about a second.
  const probe = { maxBandwidthPercent: '60', podSelector: { matchLabels: { app: 'probe' } } };
  await f.createWatch('probe', probe);
  await untilInjected(f, c, 'probe', 'probe');
});
afterAll(async () => {
  for (const each of controllers) await each.stop();
  await c.transport.close();
  await f.stop();
});

/** Reports the pods that are on a node as ready, instead of its kubelet, until the promise has settled. */
async function whilePodsStart<T>(work: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const over = work.finally(() => (state.isOver = true));
  over.catch(() => undefined); // awaited at the end
  while (!state.isOver) {
    for (const { metadata, spec, status } of await f.client.list(PODS, { namespace: 'default' })) {
      const ready = status?.conditions?.some(({ type }) => type === 'Ready');
      if (spec?.nodeName === undefined || ready === true) continue;
      const conditions = [...(status?.conditions ?? []), { type: 'Ready', status: 'True' }];
      const patch = { status: { phase: 'Running', conditions } };
      const ref = { namespace: 'default', name: metadata?.name ?? '' };
      await f.client.mergePatch(PODS, ref, patch, { fieldManager: 'kubelet', subresource: 'status' });
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return over;
}

describe('docs/workloads.md, Try it', () => {
  it('prints the affinity that it says', async () => {
    const path = `${dirname(await binary('kubectl'))}:${process.env.PATH ?? ''}`;
    const env = { ...process.env, KUBECONFIG: f.controlPlane.kubeconfig, PATH: path };
    const commands = promisify(execFile)('bash', ['-euo', 'pipefail', '-c', COMMANDS], { env });
    const { stdout } = await whilePodsStart(commands);
    expect(stdout.split('\n').at(-1)).toBe(OUTPUT.trim());
  });
});
