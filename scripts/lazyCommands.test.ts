import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Each command is loaded separately. A loader hook reports which modules a process reads. */
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const HOOK = `
import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write('loaded ' + url + '\\n'); return next(url, context); } });
`;

async function modulesOf(...args: readonly string[]): Promise<string[]> {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', hook, MAIN, ...args]);
  return [...stderr.matchAll(/^loaded .*\/src\/(.*)$/gm)].map(([, path = '']) => path);
}

const folderOf = (command: string): string => command.replaceAll(/-(.)/g, (_all, next: string) => next.toUpperCase());

it.each([
  ['version', [], ['commands/manager/', 'commands/cleanup/', 'controllers/', 'usage/', 'prometheus/']],
  ['cleanup', ['--help'], ['commands/manager/']],
  ['manager', ['--help'], ['commands/cleanup/', 'controllers/trafficweight/observe/']],
  ['placement-webhook', ['--help'], ['commands/manager/', 'controllers/']],
  ['trafficweights', ['--help'], ['commands/manager/', 'commands/weights/', 'controllers/trafficwatch/']],
])('%s loads no code of another command', async (command, args, others) => {
  const modules = await modulesOf(command, ...args);
  expect(modules).toContain('program.ts');
  if (args.length > 0) expect(modules).toContain(`commands/${folderOf(command)}/command.ts`);
  expect(modules.filter((module) => others.some((other) => module.startsWith(other)))).toEqual([]);
});
