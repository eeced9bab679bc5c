import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { labDown } from '../lab/lab.ts';
import { hostState, type HostState } from './hostState.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
let before: HostState;

interface Demo {
  readonly printed: () => string;
  /** Exit code of make; 130 when it ended by an interrupt, as a shell has it. */
  readonly ended: Promise<number>;
  /** As Ctrl-C in a terminal does: to make and all that it has started. */
  readonly interrupt: () => void;
}

/** `make demo`, without a terminal. */
function startDemo(env: Record<string, string> = {}): Demo {
  const options = { cwd: ROOT, env: { ...process.env, ...env }, detached: true } as const;
  const child = spawn('make', ['--silent', 'demo'], options);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (printed += data.toString()));
  return {
    printed: () => printed,
    ended: once(child, 'close').then(([code]) => (code as number | null) ?? 130),
    interrupt: () => void process.kill(-child.pid!, 'SIGINT'),
  };
}

beforeAll(async () => {
  await labDown();
  before = hostState();
});
afterAll(() => labDown());

it('shows the labels and the new pods follow the traffic, in plain lines where there is no terminal', async () => {
  const { ended, printed } = startDemo({ DEMO_DOWN: '1' });
  expect(await ended, printed()).toBe(0);
  expect(printed()).toContain('node1 is full: all 4 pods landed on the others');
  expect(printed()).toContain('all 4 new pods avoided node2');
  expect(printed()).toContain('all 3 pods of the StatefulSet avoided node2');
  expect(printed()).toMatch(/node2 +\d+\.\d\d +Unfit +true/);
  expect(printed()).toContain('kubectl describe trafficwatch web');
  expect(printed()).toContain('make lab-down');
  expect(printed()).not.toContain('\x1b[');
  expect(hostState()).toEqual(before);
}, 900_000);

it('says at which step it fails and why, and leaves nothing behind', async () => {
  const { ended, printed } = startDemo({ DEMO_THRESHOLD: 'many' });
  expect(await ended).toBeGreaterThan(0);
  expect(printed()).toContain('step "kubectl apply: TrafficWatch web, threshold many %, 4 replicas" failed');
  expect(printed()).toContain('must be a finite number of at least 0');
  expect(hostState()).toEqual(before);
}, 900_000);

it.each([
  ['while the cluster starts, which takes itself down', 'waiting for node1 to be Ready'],
  ['in a step on a cluster that runs', 'narrowing every node'],
])('leaves nothing behind when it is interrupted %s', { timeout: 900_000 }, async (_when, line) => {
  const { ended, printed, interrupt } = startDemo();
  await vi.waitFor(() => expect(printed()).toContain(line), 600_000);
  interrupt();
  expect(await ended).toBeGreaterThan(0);
  expect(printed().match(/the lab is down/g)).toHaveLength(1);
  expect(hostState()).toEqual(before);
});
