import { describe, expect, it } from 'vitest';
import { PrometheusBackend, type MeasuredOptions } from './prometheus.ts';

const { signal } = new AbortController();
const OPTIONS: MeasuredOptions = { query: 'free', fullValue: 1, minChange: 5 };
const after = (known: number | undefined) => ({ known, initialWeight: 0, allowAllZero: false });
const backend = (values: readonly number[] | Error, over: Partial<MeasuredOptions> = {}): PrometheusBackend =>
  new PrometheusBackend({ ...OPTIONS, ...over }, () =>
    values instanceof Error ? Promise.reject(values) : Promise.resolve(values),
  );
const weightOf = async (value: number, known?: number, over: Partial<MeasuredOptions> = {}): Promise<number> =>
  (await backend([value], over).read(after(known), signal)).desired;

describe('a measured weight', () => {
  it.each([
    [0, 1, 0],
    [0.5, 1, 50],
    [1, 1, 100],
    [1.7, 1, 100],
    [-0.1, 1, 0],
    [0.004, 1, 0],
    [0.005, 1, 1],
    [75, 100, 75],
    [3, 12, 25],
  ])('of %d, of which %d is all, is %i', async (value, fullValue, weight) => {
    expect(await weightOf(value, undefined, { fullValue })).toBe(weight);
  });

  it.each([
    [0.54, 50, 5, 50],
    [0.46, 50, 5, 50],
    [0.55, 50, 5, 55],
    [0.45, 50, 5, 45],
    [0.51, 50, 0, 51],
    [0.51, 50, 1, 51],
    [0.99, 80, 100, 80],
    [1, 96, 100, 100],
    [0.99, 96, 5, 96],
    [0, 4, 100, 0],
    [0.04, 0, 5, 4],
    [0.97, 100, 5, 100],
    [0.99, 104, 100, 99],
  ])('of %d, after %i, with minChange %i, is %i', async (value, known, minChange, weight) => {
    expect(await weightOf(value, known, { minChange })).toBe(weight);
  });

  it.each([
    ['no series', [], 'no series'],
    ['several series', [0.5, 0.6], '2 series'],
    ['NaN', [NaN], 'NaN'],
    ['a division by zero', [Infinity], 'Infinity'],
  ])('of %s is an error that names the query', async (_, values, got) => {
    await expect(backend(values).read(after(50), signal)).rejects.toMatchObject({
      reason: 'InvalidWeight',
      message: `the query free gives ${got}: must give one series with a number`,
    });
  });

  it('of a Prometheus that fails is an error with its message', async () => {
    await expect(backend(new Error('cannot connect')).read(after(50), signal)).rejects.toMatchObject({
      reason: 'BackendUnavailable',
      message: 'cannot connect',
    });
  });

  it('names the beginning of a long query', async () => {
    const error: unknown = await backend([], { query: 'x'.repeat(4_000) })
      .read(after(50), signal)
      .catch((thrown: unknown) => thrown);
    expect((error as Error).message.length).toBeLessThan(250);
  });
});
