import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../runtime/process/clock.ts';
import { Answers, ASKED_AT_ONCE, PATIENCE_MS } from './answers.ts';

interface Question {
  readonly key: string;
  readonly answer: (text: string) => void;
}

const FRESH_MS = 60_000;

let clock: FakeClock;
let asked: Question[];
let answers: Answers<string>;

beforeEach(() => {
  clock = new FakeClock(0);
  asked = [];
  answers = new Answers({ clock, freshMs: () => FRESH_MS });
});

function of(key = 'web'): Promise<string | undefined> {
  return answers.of(key, () => new Promise((answer) => asked.push({ key, answer })));
}

/** Asks, and gets this answer at once. */
async function answered(text: string): Promise<void> {
  const waiting = of();
  asked.at(-1)!.answer(text);
  expect(await waiting).toBe(text);
}

describe('Answers', () => {
  it('asks once while the answer is fresh', async () => {
    await answered('a');
    await clock.advance(FRESH_MS - 1);
    expect(await of()).toBe('a');
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await answered('b');
  });

  it('shares a question among concurrent callers', async () => {
    const both = [of(), of()];
    asked[0]!.answer('a');
    expect(await Promise.all(both)).toEqual(['a', 'a']);
    expect(asked).toHaveLength(1);
  });

  it('waits a second for the first answer, and then not at all until it is there', async () => {
    const first = of();
    await clock.advance(PATIENCE_MS);
    expect(await first).toBeUndefined();
    expect(await of()).toBeUndefined();
    expect(asked).toHaveLength(1);
    asked[0]!.answer('a');
    await clock.advance(0);
    expect(await of()).toBe('a');
  });

  it('gives the last answer while a new one takes long', async () => {
    await answered('a');
    await clock.advance(FRESH_MS);
    const next = of();
    await clock.advance(PATIENCE_MS);
    expect(await next).toBe('a');
    asked[1]!.answer('b');
    await clock.advance(0);
    expect(await of()).toBe('b');
  });

  it('forgets an answer, and one that comes later', async () => {
    await answered('a');
    answers.forget('web');
    const late = of();
    answers.forget('web');
    asked[1]!.answer('b');
    await late;
    await answered('c');
    expect(asked).toHaveLength(3);
  });

  it('limits the open questions: the others are asked in their order', async () => {
    const keys = Array.from({ length: ASKED_AT_ONCE + 2 }, (_, i) => `k${i}`);
    const all = keys.map(of);
    await clock.advance(0);
    expect(asked.map(({ key }) => key)).toEqual(keys.slice(0, ASKED_AT_ONCE));
    for (let i = 0; i < keys.length; i++) {
      asked[i]!.answer(keys[i]!);
      await clock.advance(0);
    }
    expect(await Promise.all(all)).toEqual(keys);
  });
});
