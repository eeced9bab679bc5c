import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSeries, readAnswer, type SeriesVisitor, type ResultType } from './answer.ts';

const NEVER = new AbortController().signal;

interface Options {
  signal?: AbortSignal;
  /** Size of each chunk of the body, in bytes. */
  chunk?: number;
  most?: number;
  type?: ResultType;
  /** Error that truncates the body. */
  brokenOffBy?: Error;
}

async function* chunks(body: string, { chunk = 64 * 1024, brokenOffBy }: Options): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body);
  for (let from = 0; from < bytes.length; from += chunk)
    yield await Promise.resolve(bytes.subarray(from, from + chunk));
  if (brokenOffBy) throw brokenOffBy;
}

function readWith(visitor: SeriesVisitor, body: string, options: Options = {}) {
  const { signal = NEVER, most = Infinity, type = 'vector' } = options;
  return readAnswer(chunks(body, options), { visitor, signal, most, conceal: String, type });
}

async function read(body: string, options: Options = {}) {
  const all: unknown[] = [];
  const answer = await readWith({ visit: (series) => all.push(series) }, body, options);
  return { ...answer, all };
}

function vector(result: readonly unknown[], more: object = {}): string {
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result }, ...more });
}

/** Texts that look like the boundaries between elements. */
const traps = fc.constantFrom(',{"metric":', ']},{"metric":{"', '"result":[', '\\', '"', ']}', '\\"', ']', '{[');
const label = fc.array(fc.oneof(traps, fc.string()), { maxLength: 4 }).map((parts) => parts.join(''));
const series = fc.record({
  metric: fc.dictionary(label, label, { maxKeys: 3 }),
  value: fc.tuple(fc.double({ min: 0, max: 2e9, noNaN: true }), label),
});

/** Repeats the elements until the answer is too large to be parsed as a whole. */
function many<T>(all: readonly T[]): T[] {
  return Array.from({ length: 6_000 }, (_, index) => all[index % all.length] as T);
}

/** Blocks the event loop for `ms` milliseconds. */
function spend(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe('readAnswer', () => {
  it('reads the same series for any chunk size and any labels', async () => {
    const remarks = fc.array(label, { maxLength: 3 });
    const some = fc.array(series, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(some, remarks, fc.integer({ min: 700, max: 200_000 }), async (all, warnings, chunk) => {
        const expected = JSON.parse(JSON.stringify(many(all))) as unknown;
        const { all: found, warnings: told, series } = await read(vector(many(all), { warnings }), { chunk });
        expect(found).toEqual(expected);
        expect(told).toEqual(warnings);
        expect(series).toBe(6_000);
      }),
      { numRuns: 10 },
    );
  });

  it('reads an answer with another layout', async () => {
    const result = many([{ metric: { a: 'b' }, value: [1, '2'] }]);
    const pretty = JSON.stringify(
      { warnings: ['w'], data: { result, resultType: 'vector' }, status: 'success' },
      null,
      2,
    );
    const { all, warnings } = await read(pretty);
    expect(all).toEqual(result);
    expect(warnings).toEqual(['w']);
  });

  it('reads an answer with another field named result before data.result', async () => {
    const result = many([{ metric: { a: 'b' }, value: [1, '2'] }]);
    const body = { stats: { result: [] }, status: 'success', data: { resultType: 'vector', result } };
    expect((await read(JSON.stringify(body))).all).toEqual(result);
    const nested = { stats: { result: [{ data: {} }] }, status: 'success', data: { result, resultType: 'vector' } };
    expect((await read(JSON.stringify(nested))).all).toEqual(result);
  });

  it('passes the series of a large answer as bytes, and of a small answer parsed', async () => {
    const result = many([{ metric: { a: 'b' }, value: [1, '2'] }]);
    const bytes: unknown[] = [];
    const visit = (): void => expect.unreachable('all are passed as bytes');
    const visitor: SeriesVisitor = { visit, visitBytes: (...element) => bytes.push(parseSeries(...element)) };
    await readWith(visitor, vector(result), { chunk: 1_000 });
    expect(bytes).toEqual(result);
    const visited: unknown[] = [];
    await readWith({ ...visitor, visit: (series) => visited.push(series) }, vector(result.slice(0, 3)));
    expect(visited).toEqual(result.slice(0, 3));
  });

  it.each([
    ['small', 2],
    ['streamed', 6_000],
  ])('reads the samples of a range, and no vector, if it is asked for a matrix: %s', async (_what, count) => {
    const result = Array.from({ length: count }, (_, n) => ({
      metric: { device: `eth${n}` },
      values: [
        [1, '2'],
        [6, '3'],
      ],
    }));
    const matrix = JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
    expect((await read(matrix, { type: 'matrix' })).all).toEqual(result);
    await expect(read(vector([]), { type: 'matrix' })).rejects.toMatchObject({ reason: 'BadAnswer' });
  });

  it('visits no series and throws the error of the body if it fails early', async () => {
    const visit = (): void => expect.unreachable('a retry would visit it again');
    const brokenOffBy = new Error('reset');
    const small = vector([{ metric: { a: 'b' }, value: [1, '2'] }]);
    await expect(readWith({ visit }, small, { brokenOffBy })).rejects.toBe(brokenOffBy);
  });

  it('throws Unreachable if the body fails after series were visited', async () => {
    const result = many([{ metric: { a: 'b' }, value: [1, '2'] }]);
    const answer = read(vector(result), { brokenOffBy: new Error('reset') });
    await expect(answer).rejects.toMatchObject({ name: 'PrometheusError', reason: 'Unreachable' });
  });

  it.each([
    ['small', 50_000],
    ['streamed', 500_000],
  ])('throws TooLarge above the limit: %s', async (_what, most) => {
    const body = vector(Array.from({ length: 20_000 }, () => ({ metric: { device: 'eth0' }, value: [1, '2'] })));
    await expect(read(body, { most })).rejects.toMatchObject({ name: 'PrometheusError', reason: 'TooLarge' });
    expect((await read(body, { most: body.length })).series).toBe(20_000);
  });

  it.each([
    { body: (all: readonly unknown[]) => vector(all, { isPartial: true }), where: 'behind the series' },
    {
      body: (all: readonly unknown[]) => vector(all).replace('{', '{"isPartial":true,'),
      where: 'before the series, as vmselect writes it',
    },
  ])('warns that an answer is partial, $where', async ({ body }) => {
    const all = [{ metric: { a: 'b' }, value: [1, '2'] }];
    for (const result of [all, many(all)]) {
      const { warnings, series } = await read(body(result));
      expect({ warnings, series }).toEqual({
        warnings: [expect.stringContaining('isPartial') as string],
        series: result.length,
      });
    }
  });

  it('does not warn where isPartial is false', async () => {
    expect((await read(vector([], { isPartial: false }))).warnings).toEqual([]);
  });

  it('returns at most five warnings and infos, shortened', async () => {
    const warnings = Array.from({ length: 50 }, () => 'w'.repeat(5_000));
    const { warnings: told, infos } = await read(vector([], { warnings, infos: ['i', 7] }));
    expect([told.length, told[0]?.length]).toEqual([5, 300]);
    expect(infos).toEqual(['i']);
  });

  const rest = JSON.stringify(many([{ metric: { a: 'b' }, value: [1, '2'] }])).slice(1);
  it.each([
    ['nothing', ''],
    ['words', 'not json at all'],
    ['HTML', '<html><body>502</body></html>'],
    ['null', 'null'],
    ['a number', '7'],
    ['an object of something else', '{"a":1}'],
    ['success without data', '{"status":"success"}'],
    ['a matrix', '{"status":"success","data":{"resultType":"matrix","result":[]}}'],
    ['a scalar', '{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}'],
    ['no result', '{"status":"success","data":{"resultType":"vector"}}'],
    ['a truncated answer', vector(many([{ metric: { a: 'b' }, value: [1, '2'] }])).slice(0, -200)],
    ['garbage among many series', `{"status":"success","data":{"resultType":"vector","result":[{"metric":x},${rest}}}`],
    ['two megabytes of garbage', 'x'.repeat(2_000_000)],
  ])('rejects %s, without quoting it', async (_what, body) => {
    await expect(read(body)).rejects.toMatchObject({ name: 'PrometheusError', reason: 'BadAnswer' });
    await expect(read(body)).rejects.not.toThrow(/html|metric|not json at/);
  });

  it('yields to the event loop while it reads an answer of 30,000 series', async () => {
    const body = vector(Array.from({ length: 30_000 }, (_, n) => ({ metric: { device: `eth${n}` }, value: [1, '2'] })));
    let turns = 0;
    const ticking = setInterval(() => turns++, 0);
    await readWith({ visit: () => spend(0.002) }, body, { chunk: Infinity });
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(2);
  });

  it('ends when the signal is aborted', async () => {
    const gone = new AbortController();
    const body = vector(Array.from({ length: 60_000 }, (_, n) => ({ metric: { device: `eth${n}` }, value: [1, '2'] })));
    let visited = 0;
    const visit = (): void => {
      visited++;
      gone.abort(new Error('stopped'));
      spend(0.01);
    };
    const whole = { signal: gone.signal, chunk: Infinity };
    await expect(readWith({ visit }, body, whole)).rejects.toThrow('stopped');
    expect(visited).toBeLessThan(60_000);
  });
});
