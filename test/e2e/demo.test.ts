import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { labDown } from '../lab/lab.ts';

const DEMO = fileURLToPath(new URL('../demo/demo.ts', import.meta.url));

/** Runs the demo as `make demo` does, without a terminal; resolves to its exit code and all that it printed. */
function runDemo(env: Record<string, string>): Promise<{ code: number; printed: string }> {
  const options = { env: { ...process.env, ...env }, maxBuffer: 16 * 1024 * 1024 };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [DEMO], options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, printed: `${stdout}\n${stderr}` });
    });
  });
}

const namespaces = (): string[] =>
  existsSync('/run/netns') ? readdirSync('/run/netns').filter((name) => name.startsWith('lab-')) : [];

afterAll(() => labDown());

it('shows the labels and the new pods follow the traffic, in plain lines where there is no terminal', async () => {
  const { code, printed } = await runDemo({ DEMO_DOWN: '1' });
  expect(code, printed).toBe(0);
  expect(printed).toContain('node1 is full: all 4 pods landed on the others');
  expect(printed).toContain('all 4 new pods avoided node2');
  expect(printed).toMatch(/node2 +\d+\.\d\d +Unfit +true/);
  expect(printed).toContain('kubectl describe trafficwatch web');
  expect(printed).toContain('make lab-down');
  expect(printed).not.toContain('\x1b[');
  expect(namespaces()).toEqual([]);
}, 400_000);

it('says at which step it fails and why, and leaves nothing running', async () => {
  const { code, printed } = await runDemo({ DEMO_THRESHOLD: 'many' });
  expect(code).toBe(1);
  expect(printed).toContain('step "kubectl apply: TrafficWatch web, threshold many %, 4 replicas" failed');
  expect(printed).toContain('must be a finite number of at least 0');
  expect(namespaces()).toEqual([]);
}, 400_000);
