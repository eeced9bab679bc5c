import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { FakeClock } from './clock.ts';
import { NameLookup, type LookupFunction } from './nameLookup.ts';

const HOST = 'netchecker-service';
const FIRST: LookupAddress[] = [
  { address: '198.18.64.7', family: 4 },
  { address: 'fd00::7', family: 6 },
];

/** A name server that the test answers for. */
function scene() {
  const clock = new FakeClock();
  const asked: { resolve: (found: LookupAddress[]) => void; reject: (error: Error) => void }[] = [];
  const names = new NameLookup(clock, () => new Promise((resolve, reject) => asked.push({ resolve, reject })));
  return { clock, asked, names };
}

const failure = (code: string): Error => Object.assign(new Error(code), { code });

function look(lookup: LookupFunction, options: object = { all: true }): Promise<unknown> {
  return new Promise((resolve) => {
    lookup(HOST, options, (error, address, family) =>
      resolve(error?.code ?? (family === undefined ? address : [address, family])),
    );
  });
}

describe('the addresses of a name', () => {
  it('are asked for once, however many wait', async () => {
    const { asked, names } = scene();
    const both = Promise.all([names.addresses(HOST, 100), names.addresses(HOST, 100)]);
    expect(asked).toHaveLength(1);
    asked[0]!.resolve(FIRST);
    expect(await both).toEqual([FIRST, FIRST]);
    void names.addresses(HOST, 100).catch(() => undefined);
    expect(asked).toHaveLength(2);
  });

  it('are waited for no longer than allowed, and leave no timer behind', async () => {
    const { clock, asked, names } = scene();
    const late = names.addresses(HOST, 100).catch((error: unknown) => (error as NodeJS.ErrnoException).code);
    await clock.advance(100);
    expect(await late).toBe('ETIMEDOUT');
    const inTime = names.addresses(HOST, 100);
    asked[0]!.resolve(FIRST);
    await inTime;
    expect(clock.pending).toBe(0);
  });
});

describe('a new connection', () => {
  it('has the families that it asks for', async () => {
    const { asked, names } = scene();
    const found = [{ all: true }, {}, { family: 6 }, { family: 4, all: true }].map((o) => look(names.fresh(), o));
    asked[0]!.resolve(FIRST);
    expect(await Promise.all(found)).toEqual([FIRST, ['198.18.64.7', 4], ['fd00::7', 6], [FIRST[0]]]);
  });

  it.each(['silent', 'EAI_AGAIN'])('uses the last known address if the DNS is %s', async (how) => {
    const { clock, asked, names } = scene();
    const first = names.addresses(HOST, 100);
    asked[0]!.resolve(FIRST);
    await first;
    const found = look(names.lastKnown(1_000));
    if (how === 'silent') await clock.advance(1_000);
    else asked[1]!.reject(failure(how));
    expect(await found).toEqual(FIRST);
  });

  it('uses the new address if there is one, and none if the name is gone', async () => {
    const { asked, names } = scene();
    const answers = async (answer: (one: (typeof asked)[number]) => void): Promise<unknown> => {
      const found = look(names.lastKnown(1_000));
      answer(asked.at(-1)!);
      return found;
    };
    expect(await answers(({ resolve }) => resolve(FIRST))).toEqual(FIRST);
    expect(await answers(({ resolve }) => resolve([FIRST[1]!]))).toEqual([FIRST[1]]);
    expect(await answers(({ reject }) => reject(failure('ENOTFOUND')))).toBe('ENOTFOUND');
  });

  it('has no address if none was ever known', async () => {
    const { clock, names } = scene();
    const found = look(names.lastKnown(1_000));
    await clock.advance(1_000);
    expect(await found).toBe('ETIMEDOUT');
  });
});
