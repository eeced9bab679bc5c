import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LEVELS } from './test/levels.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const help = spawnSync('make', ['--no-print-directory', '-C', ROOT, 'help'], { encoding: 'utf8' }).stdout;
const lines = help.trimEnd().split('\n');
const targets = lines.map((line) => line.trim().split(' ')[0]);

/** Documents name them. */
const FOR_PEOPLE = [
  ...['help', 'setup', 'test', 'unit', 'generate', 'verify', 'demo', 'demo-stack', 'lab-up', 'lab-down'],
  ...['install', 'uninstall', 'deploy', 'undeploy'],
  ...['bundle', 'catalog', 'olm-install', 'olm-deploy', 'olm-undeploy'],
];

describe('make help', () => {
  it('lists every target that is for people', () => {
    for (const line of lines) expect(line).toMatch(/^ {2}[a-z0-9-]+ +[A-Z].*$/);
    expect(targets).toEqual(expect.arrayContaining(FOR_PEOPLE));
  });

  it('names the levels that there are', () => {
    const names = LEVELS.filter(({ onRequest }) => !onRequest).map(({ name }) => name);
    expect(/Runs every level: (.*) \(WITHOUT="([^"]*)"/.exec(help)?.slice(1)).toEqual([names.join(', '), 'e2e image']);
  });
});

it('each target calls a command that scripts/cluster.sh has, and each of those has a target', () => {
  const called = [...read('Makefile').matchAll(/^([a-z-]+): .*\n\tscripts\/cluster\.sh (\S+)$/gm)];
  const [, cases = ''] = /^case \$\{1:-\} in\n(.*?)^ {2}\*\)/ms.exec(read('scripts/cluster.sh')) ?? [];
  const commands = [...cases.matchAll(/^ {2}([a-z-]+)\) \w+ ;;$/gm)].map(([, command]) => command);
  expect(called.map(([, , command]) => command).sort()).toEqual(commands.sort());
  expect(called.map(([, target]) => target)).toEqual(called.map(([, , command]) => command));
});

/** The targets of each `make` in code blocks and between backticks, also in tables. */
function targetsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```.*?\n(.*?)^ *```/gms)].flatMap(([, block = '']) => block.split('\n'));
  const inline = [...text.replaceAll(/^ *```.*?^ *```/gms, '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  const commands = [...blocks, ...inline].flatMap((code) => code.replace(/ #.*$/, '').split(/&&|[;|]/));
  return commands.flatMap((command) => {
    const words = command
      .replaceAll(/"[^"]*"|'[^']*'/g, '')
      .trim()
      .split(/\s+/);
    const [first, ...rest] = words.filter((word) => !word.includes('=') && word !== '$');
    return first === 'make' ? rest : [];
  });
}

describe('documents', () => {
  const documents = globSync(['*.md', 'docs/*.md', 'charts/*/README.md', 'test/lab/*.md'], { cwd: ROOT }).sort();

  it.each(documents)('%s names targets that there are', (document) => {
    expect(targetsIn(read(document)).filter((target) => !targets.includes(target))).toEqual([]);
  });

  it('are found by what they name, or it would prove nothing', () => {
    const text =
      '| `make a b` | make no |\n```sh\nmake c X="d e" f  # g\nIMG=x make h && make i\nto make no\n```\n`make\nj` `make`';
    expect(targetsIn(text)).toEqual(['c', 'f', 'h', 'i', 'a', 'b', 'j']);
    expect(targetsIn(read('README.md'))).toEqual(expect.arrayContaining(['demo', 'install', 'deploy', 'olm-deploy']));
    expect(targetsIn(read('docs/olm.md'))).toEqual(expect.arrayContaining(['bundle', 'olm-undeploy', 'uninstall']));
    expect(targetsIn(read('docs/stack.md'))).toContain('demo-stack');
  });
});
