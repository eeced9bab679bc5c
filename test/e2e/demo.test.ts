import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { kubeconfigPath, labDown, labUp } from '../lab/lab.ts';
import { hostState, hostStateAfter, isRunning, labProcesses } from './hostState.ts';

/** `make demo` and `make lab-down`, and so how a lab starts and ends, whatever was there before. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LAB = dirname(kubeconfigPath());
/** A build or an installation would take longer than a test may: ms. */
const LONGEST = 600_000;
const run = promisify(execFile);
/** The machine without a lab. */
const before = inject('hostState');

interface Demo {
  readonly printed: () => string;
  /** Exit code of make; 130 when it ended by an interrupt, as a shell has it. */
  readonly ended: Promise<number>;
  /** As Ctrl-C in a terminal does: to make and all that it has started. */
  readonly interrupt: () => void;
}

/** `make demo`, without a terminal. */
function startDemo(): Demo {
  const child = spawn('make', ['--silent', 'demo'], { cwd: ROOT, detached: true });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (printed += data.toString()));
  return {
    printed: () => printed,
    ended: once(child, 'close').then(([code]) => (code as number | null) ?? 130),
    interrupt: () => void process.kill(-child.pid!, 'SIGINT'),
  };
}

/** Interrupts a demo when it has printed a line. @returns what it printed, when it has ended */
async function interruptAt(line: string): Promise<string> {
  const { ended, printed, interrupt } = startDemo();
  await vi.waitFor(() => expect(printed()).toContain(line), LONGEST);
  interrupt();
  expect(await ended).toBeGreaterThan(0);
  return printed();
}

// The lab of the stories before, if there is one.
beforeAll(async () => {
  if (labProcesses(LAB).length === 0) await labUp({ nodes: 1 });
}, 900_000);
afterAll(() => labDown());

it('begins with what is left of a lab that was killed from outside, and leaves nothing behind when it is interrupted in a step', async () => {
  for (const { pid } of labProcesses(LAB)) await run('kill', ['-KILL', String(pid)]).catch(() => undefined);
  expect(hostState()).not.toEqual(before);
  const printed = await interruptAt('narrowing every node');
  expect(printed).toContain('taking down an earlier lab, or what is left of it');
  expect(printed).toContain('3 nodes are Ready');
  expect(printed).not.toMatch(/: building |making the image/);
  expect(printed.match(/the lab is down/g)).toHaveLength(1);
  expect(await hostStateAfter(before)).toEqual(before);
});

it('leaves nothing behind when it is interrupted while the cluster starts, which takes itself down', async () => {
  const printed = await interruptAt('waiting for node1 to be Ready');
  expect(printed.match(/the lab is down/g)).toHaveLength(1);
  expect(await hostStateAfter(before)).toEqual(before);
});

it('says at which step it fails and why, and leaves nothing behind', async () => {
  await run('/usr/sbin/ip', ['address', 'add', '198.19.255.1/32', 'dev', 'lo']);
  try {
    const { ended, printed } = startDemo();
    expect(await ended).toBeGreaterThan(0);
    expect(printed()).toContain('step "starting a cluster of 3 nodes" failed');
    expect(printed()).toContain('failed at: laying out the network');
    expect(printed()).toContain('in use on this machine already');
  } finally {
    await run('/usr/sbin/ip', ['address', 'del', '198.19.255.1/32', 'dev', 'lo']);
  }
  expect(await hostStateAfter(before)).toEqual(before);
});

it('shows the labels and the new pods follow the traffic, in plain lines, and its cluster stays until make lab-down', async () => {
  const { ended, printed } = startDemo();
  expect(await ended, printed()).toBe(0);
  expect(printed()).toContain('node1 is full: all 4 pods landed on the others');
  expect(printed()).toContain('all 4 new pods avoided node2');
  expect(printed()).toContain('all 3 pods of the StatefulSet avoided node2');
  expect(printed()).toMatch(/node2 +\d+\.\d\d +Unfit +true/);
  expect(printed()).toContain('kubectl describe trafficwatch web');
  expect(printed()).toContain('make lab-down');
  expect(printed()).not.toContain('\x1b[');

  const processes = labProcesses(LAB);
  // Control plane, and a kubelet, containerd and kube-proxy a node; also pods and their shims.
  expect(processes.length).toBeGreaterThan(4 + 3 * 3);
  await run('make', ['--silent', 'lab-down'], { cwd: ROOT });
  expect(await hostStateAfter(before)).toEqual(before);
  await vi.waitFor(() => expect(processes.filter(isRunning)).toEqual([]), LONGEST);
});
