import * as fc from 'fast-check';
import { isObject } from '../../src/runtime/apply/mergePatch.ts';
import { MUTATIONS, oddStatus, spelledOut, type Mutation } from './hostileMutations.ts';

/** One odd TrafficWatch. */
export interface Hostile {
  /** Unique within a batch, but for those whose name itself is odd. */
  readonly name: string;
  /** The oddity, for messages. */
  readonly what: string;
  /** The object as JSON text: numbers and repeated keys stand as no JSON.stringify would write them. */
  readonly text: string;
  /** To be written over its status afterwards, as JSON text. */
  readonly status: string | undefined;
}

/** A TrafficWatch that is right but for what is done to it. */
function sound(name: string): Record<string, unknown> {
  const labels = { app: 'hostile' };
  const pod = { containers: [{ name: 'web', image: 'web:1' }] };
  const deployment = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
  const spec = { maxBandwidthPercent: '60', deployment };
  return { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficWatch', metadata: { name }, spec };
}

/** Own properties only, whatever they are called. */
function set(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Puts the part in its place, and what is not an object on the way there out of it. */
function mutate(object: Record<string, unknown>, { path, value }: Mutation): void {
  let here: Record<string, unknown> = object;
  for (const step of path.slice(0, -1)) {
    const next = Object.hasOwn(here, step) ? here[step] : undefined;
    if (!isObject(next) && !Array.isArray(next)) set(here, String(step), {});
    here = here[step] as Record<string, unknown>;
  }
  const last = String(path.at(-1) ?? '');
  if (value === undefined) Reflect.deleteProperty(here, last);
  else set(here, last, value);
}

/** A second value under a key that is there: the last one counts, says the API server. */
function repeated(text: string, key: string, value: string): string {
  return text.replace(`"${key}":`, () => `"${key}":${value},"${key}":`);
}

function hostile(name: string, kinds: readonly string[]): fc.Arbitrary<Hostile> {
  const drawn = fc.tuple(...kinds.map((kind) => MUTATIONS[kind]!));
  const key = fc.constantFrom('maxBandwidthPercent', 'template', 'spec');
  const repetition = fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: key });
  const status = fc.oneof(fc.constant(undefined), oddStatus);
  return fc.tuple(drawn, repetition, status).map(([mutations, key, odd]) => {
    const object = sound(name);
    for (const mutation of mutations) mutate(object, structuredClone(mutation));
    const text = spelledOut(JSON.stringify(object));
    const where = mutations.map(({ path, value }) => `${path.join('.')} ${value === undefined ? 'gone' : 'odd'}`);
    return {
      name: nameOf(object) ?? name,
      what: [...kinds, ...where, ...(key === undefined ? [] : [`${key} twice`])].join(', '),
      text: key === undefined ? text : repeated(text, key, '{"a":1}'),
      status: odd === undefined ? undefined : spelledOut(JSON.stringify({ status: odd })),
    };
  });
}

function nameOf(object: Record<string, unknown>): string | undefined {
  const { name } = object.metadata as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

/**
 * As many odd TrafficWatches, each odd in one or two ways; every kind comes up. The same seed gives the same ones.
 *
 * @param prefix of their names, so that two batches have none in common
 */
export function hostileWatches(count: number, seed: number, prefix: string): Hostile[] {
  const kinds = Object.keys(MUTATIONS);
  return Array.from({ length: count }, (_, i) => {
    const first = kinds[i % kinds.length]!;
    // Every third one has a second oddity; a huge one is odd enough.
    const second = i % 3 === 0 && first !== 'huge' ? [kinds[(i * 7 + 3) % kinds.length]!] : [];
    const drawn = hostile(`${prefix}-${i}`, [first, ...second.filter((kind) => kind !== first && kind !== 'huge')]);
    return fc.sample(drawn, { numRuns: 1, seed: seed + i })[0]!;
  });
}
