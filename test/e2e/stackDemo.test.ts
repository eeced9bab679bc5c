import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { measured } from '../harness/measured.ts';
import { labDown } from '../lab/lab.ts';
import { hostState, hostStateAfter, type HostState } from './hostState.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
let before: HostState;

beforeAll(async () => {
  await labDown();
  before = hostState();
});
afterAll(() => labDown());

/**
 * The demo itself ends with an error unless the pods are the pods of tf-operator's documentation, none was created before those that it needs
 * were ready, none was restarted, all were replaced by the upgrade, clients were served as far as they can be, the component that cannot
 * serve them was named, pods ended in the reverse order, and nothing is left.
 */
it('OpenSDN on three masters and three workers comes up, is upgraded, loses a master, and is removed', async () => {
  const options = { cwd: ROOT, env: { ...process.env, DEMO_DOWN: '1' } };
  const child = spawn('make', ['--silent', 'demo-stack'], options);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (printed += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, printed).toBe(0);
  expect(printed).toMatch(/config1-config-statefulset-2 +10\/10 +Running +0 /);
  expect(printed).toContain('no pod was created before those that it needs were ready; no container was restarted');
  expect(printed).toContain('28 pods were replaced, and run the new tag: none before those that it needs');
  const served = printed.match(/the client asked the .*/g) ?? [];
  expect(served).toEqual([
    expect.stringMatching(/Services \d+ times: \d+ retries, no failure$/),
    expect.stringMatching(/pods \d+ times: \d+ retries, no failure$/),
    expect.stringMatching(/vrouters \d+ times: \d+ retries, no failure$/),
    expect.stringMatching(/Services \d+ times: \d+ retries, \d+ failures \(at most \d+\)$/),
    expect.stringMatching(/Services \d+ times in 10 s: no retry, no failure$/),
  ]);
  const single = printed.match(/provmanager (has one|answers) .*/g) ?? [];
  expect(single).toEqual([
    expect.stringMatching(/does not answer while that is replaced: \d+ requests, \d+ retries, \d+ failures$/),
    expect.stringMatching(/on the master that is off: it is not available, and (\d+) of \1 requests failed$/),
    expect.stringMatching(/^provmanager answers from node[123]$/),
  ]);
  measured([...served, ...single].join('; '));
  expect(printed).toContain('nothing is left');
  expect(await hostStateAfter(before)).toEqual(before);
}, 900_000);
