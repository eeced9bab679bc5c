import { expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { ServerProbes } from './serverProbes.ts';

const PROBE = { query: 'count(x) > 0', series: 'series of x' };

function scene(answer: () => Promise<readonly number[]>) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const probes = new ServerProbes({
    clock,
    ask(url, query) {
      asked.push(`${url} ${query}`);
      return answer();
    },
  });
  return { clock, asked, problem: (url = 'http://p') => probes.problem(PROBE, url) };
}

it('a server with the series is of use, and is asked once in 5 s', async () => {
  const { clock, asked, problem } = scene(() => Promise.resolve([3]));
  expect([await problem(), await problem()]).toEqual([undefined, undefined]);
  await problem('http://other');
  await clock.advance(5_000);
  await problem();
  expect(asked).toEqual(['http://p count(x) > 0', 'http://other count(x) > 0', 'http://p count(x) > 0']);
});

it('one without is not', async () => {
  expect(await scene(() => Promise.resolve([])).problem()).toBe(
    'has no series of x: count(x) > 0 gives nothing at http://p',
  );
});

it('nor is one that does not answer', async () => {
  const { problem } = scene(() => Promise.reject(new Error('Prometheus answers HTTP 503')));
  expect(await problem()).toBe('gives no answer at http://p: Prometheus answers HTTP 503');
});

it('nor is one that takes too long', async () => {
  const { clock, problem } = scene(() => new Promise(() => undefined));
  const waiting = problem();
  await clock.advance(3_000);
  expect(await waiting).toBe('gives no answer at http://p: no complete answer within 3 s');
});

it('nobody listens there: it is asked over HTTP', async () => {
  const probes = new ServerProbes({ clock: new FakeClock() });
  expect(await probes.problem(PROBE, 'http://127.0.0.1:1')).toBe(
    'gives no answer at http://127.0.0.1:1: cannot connect to http://127.0.0.1:1: ECONNREFUSED',
  );
});
