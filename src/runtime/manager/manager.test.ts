import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { whenAborted } from '../async/deadline.ts';
import { HttpListener, serverPart } from '../server/httpListener.ts';
import type { Part, Stage } from '../process/part.ts';
import { Manager } from './manager.ts';

describe('Manager', () => {
  it('starts the stages in order, each when the one before is ready, and stops them in reverse', async () => {
    const { manager, log, running, stop } = start(STAGED.map((stage) => ({ stage })));
    await vi.waitFor(() => expect(log).toHaveLength(8));
    stop.abort();
    await running;
    expect(log).toEqual([
      ...['server starts', 'server ready', 'cache starts', 'cache ready'],
      ...['election starts', 'election ready', 'work starts', 'work ready'],
      ...['work ends', 'election ends', 'cache ends', 'server ends'],
    ]);
    expect(manager.ready().at(-1)!.problem()).toBe('stopping');
  });

  it('elects and works only when every cache is synced, and says until then what is not', async () => {
    const synced = Promise.withResolvers<undefined>();
    let isSynced = false;
    const cache = {
      stage: 'cache' as const,
      whenReady: () => synced.promise,
      notReady: () => (isSynced ? undefined : 'not synced'),
    };
    const { manager, log, stop, running } = start([cache, { stage: 'election' }, { stage: 'work' }]);
    await vi.waitFor(() => expect(log).toContain('cache starts'));
    expect(log).not.toContain('election starts');
    expect(problems(manager.ready())).toEqual({ cache: 'not synced', manager: 'starting' });
    isSynced = true;
    synced.resolve(undefined);
    await vi.waitFor(() => expect(log).toContain('work starts'));
    await vi.waitFor(() => expect(problems(manager.ready())).toEqual({}));
    stop.abort();
    await running;
  });

  it('ends though a cache never synced', async () => {
    const { log, stop, running } = start([
      { stage: 'cache', whenReady: () => new Promise(() => undefined) },
      { stage: 'work' },
    ]);
    await vi.waitFor(() => expect(log).toContain('cache starts'));
    stop.abort();
    await running;
    expect(log).toEqual(['cache starts', 'cache ends']);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('broken')), 'work: broken'],
    ['ends by itself', () => Promise.resolve(), 'work: ended before it was stopped'],
  ])('stops everything when a part %s, and says which', async (_why, run, message) => {
    const { log, running } = start([{ stage: 'server' }, { stage: 'work', run }]);
    await expect(running).rejects.toThrow(message);
    expect(log).toContain('server ends');
  });

  it('says which part is thought to be dead', () => {
    const { manager, stop } = start([{ stage: 'work', stuck: () => 'hangs' }, { stage: 'server' }]);
    expect(problems(manager.live())).toEqual({ work: 'hangs' });
    stop.abort();
  });

  it('reports a port that is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const manager = new Manager(pino({ level: 'silent' }));
    manager.add(serverPart(new HttpListener('health server', createServer(), { host: '127.0.0.1', port })));
    await expect(manager.run(new AbortController().signal)).rejects.toThrow(
      `health server: cannot listen on 127.0.0.1:${port} (EADDRINUSE)`,
    );
    taken.close();
  });
});

const STAGED: readonly Stage[] = ['work', 'election', 'cache', 'server'];

function start(parts: (Partial<Part> & { stage: Stage })[]) {
  const log: string[] = [];
  const manager = new Manager(pino({ level: 'silent' }));
  manager.add(...parts.map((part) => ({ ...traced(part.stage, log), ...part })));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  running.catch(() => undefined);
  return { manager, log, stop, running };
}

function traced(stage: Stage, log: string[]): Part {
  return {
    name: stage,
    stage,
    async run(signal) {
      log.push(`${stage} starts`);
      await whenAborted(signal);
      log.push(`${stage} ends`);
    },
    whenReady() {
      log.push(`${stage} ready`);
      return Promise.resolve();
    },
  };
}

function problems(checks: readonly { name: string; problem(): string | undefined }[]): Record<string, string> {
  return Object.fromEntries(
    checks.flatMap((check) => {
      const problem = check.problem();
      return problem === undefined ? [] : [[check.name, problem]];
    }),
  );
}
