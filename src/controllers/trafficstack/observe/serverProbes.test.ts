import { expect, it } from 'vitest';
import type { SeriesLabels } from '../../../prometheus/askValues.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { ServerProbes } from './serverProbes.ts';

const PROBE = { metric: 'x', series: 'series of x' };
const SERIES = { __name__: 'x', job: 'a"b', 'dotted.name': 'y' };
const ALL = 'topk(1, x)';
const ONE = 'count(x{job="a\\"b"})';

function scene(answer: (query: string) => Promise<readonly SeriesLabels[]>) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const probes = new ServerProbes({
    clock,
    ask(url, query) {
      asked.push(`${url} ${query}`);
      return answer(query);
    },
  });
  return { clock, asked, problem: (url = 'http://p') => probes.problem(PROBE, url) };
}

it('a server with the series is of use, and is asked once in 5 s: first for any series, then for that one', async () => {
  const { clock, asked, problem } = scene(() => Promise.resolve([SERIES]));
  expect([await problem(), await problem()]).toEqual([undefined, undefined]);
  await problem('http://other');
  await clock.advance(5_000);
  expect(await problem()).toBeUndefined();
  expect(asked).toEqual([`http://p ${ALL}`, `http://other ${ALL}`, `http://p ${ONE}`]);
});

it('when that series has ended, all are asked for at once', async () => {
  const series = [SERIES];
  const { clock, asked, problem } = scene((query) => Promise.resolve(query === ALL ? series : []));
  await problem();
  await clock.advance(5_000);
  expect(await problem()).toBeUndefined();
  series.pop();
  await clock.advance(5_000);
  expect(await problem()).toBe('has no series of x: x gives nothing at http://p');
  await clock.advance(5_000);
  await problem();
  expect(asked.map((each) => each.slice('http://p '.length))).toEqual([ALL, ONE, ALL, ONE, ALL, ALL]);
});

it('one without is not of use', async () => {
  expect(await scene(() => Promise.resolve([])).problem()).toBe('has no series of x: x gives nothing at http://p');
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

it('series of few servers are remembered', async () => {
  const { clock, asked, problem } = scene(() => Promise.resolve([SERIES]));
  for (let n = 0; n <= 50; n += 1) await problem(`http://p${n}`);
  await clock.advance(5_000);
  await problem('http://p0');
  await problem('http://p50');
  expect(asked.slice(-2)).toEqual([`http://p0 ${ALL}`, `http://p50 ${ONE}`]);
});
