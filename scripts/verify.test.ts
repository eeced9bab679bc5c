import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { generate, type Generator } from './generate.ts';
import { verify } from './verify.ts';

const GENERATORS: readonly Generator[] = [() => [{ path: 'docs/made.md', content: 'made\n' }]];

describe('verify', () => {
  let root: string;
  const git = (...args: readonly string[]): string => {
    const identity = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@example.com', '-c', 'commit.gpgsign=false'];
    return execFileSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8' });
  };
  const commitAll = (): void => {
    git('add', '.');
    git('commit', '--quiet', '--message=x');
  };
  const made = (): string => readFileSync(join(root, 'docs/made.md'), 'utf8');

  beforeEach(async () => {
    // A git hook sets these variables for its own repository.
    for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']) vi.stubEnv(name, undefined);
    root = mkdtempSync(join(tmpdir(), 'verify-'));
    git('init', '--quiet');
    await generate(true, root, GENERATORS);
    commitAll();
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
    vi.unstubAllEnvs();
  });

  it('has nothing to say of a checkout that is clean and current', async () => {
    expect(await verify(root, GENERATORS)).toEqual([]);
  });

  it('names what is changed and what is new', async () => {
    writeFileSync(join(root, 'new.ts'), '');
    expect(await verify(root, GENERATORS)).toEqual([
      'The working tree is not clean:\n  ?? new.ts\nCommit, or ignore what does not belong there.',
    ]);
  });

  it('names a generated file that was committed stale, and makes it current', async () => {
    writeFileSync(join(root, 'docs/made.md'), 'by hand\n');
    commitAll();
    const complaints = await verify(root, GENERATORS);
    expect(complaints[0]).toBe(
      'These generated files were not current:\n  docs/made.md\nThey are now: look at them and commit.',
    );
    expect(complaints[1]).toMatch(/not clean:\n {3}M docs\/made\.md\n/);
    expect(made()).toBe('made\n');
  });

  it('names a generated file that is absent; a mere check writes nothing', async () => {
    rmSync(join(root, 'docs'), { recursive: true });
    expect(await generate(false, root, GENERATORS)).toEqual(['docs/made.md']);
    expect(made).toThrow('ENOENT');
  });
});
