import { describe, expect, it } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import type { KubeObject } from '../client/resource.ts';
import { BELIEVED_FOR_MS, WrittenObjects } from './writtenObjects.ts';

const at = (resourceVersion: string, uid?: string): KubeObject => ({ metadata: { name: 'n1', uid, resourceVersion } });

describe('WrittenObjects', () => {
  it('shows our write until the cache has caught up, by number and not by text', () => {
    const written = new WrittenObjects();
    written.wrote(at('10'));
    expect(written.latest('n1', at('9'))).toEqual(at('10'));
    expect(written.latest('n1', undefined)).toEqual(at('10'));
    expect(written.latest('n1', at('10'))).toEqual(at('10'));
    expect(written.latest('n1', at('9'))).toEqual(at('9'));
  });

  it('keeps the newer of two writes, in whatever order their answers come', () => {
    const written = new WrittenObjects();
    written.wrote(at('12'));
    written.wrote(at('11'));
    expect(written.latest('n1', at('9'))).toEqual(at('12'));
  });

  it('forgets what was deleted later, and keeps what was made anew', () => {
    const written = new WrittenObjects();
    written.wrote(at('10'));
    written.deleted(at('11'));
    expect(written.latest('n1', undefined)).toBeUndefined();
    written.wrote(at('13'));
    written.deleted(at('12'));
    expect(written.latest('n1', undefined)).toEqual(at('13'));
  });

  it('forgets what a relist found absent, which is told as the cache last had it', () => {
    const written = new WrittenObjects();
    written.wrote(at('200', 'first'));
    written.deleted(at('100', 'first'));
    expect(written.latest('n1', undefined)).toBeUndefined();
    written.wrote(at('300', 'second'));
    written.deleted(at('100', 'first'));
    expect(written.latest('n1', undefined)).toEqual(at('300', 'second'));
  });

  it('believes the cache again when that does not catch up', async () => {
    const clock = new FakeClock();
    const written = new WrittenObjects(clock);
    written.wrote(at('200'));
    await clock.advance(BELIEVED_FOR_MS - 1);
    expect(written.latest('n1', undefined)).toEqual(at('200'));
    expect(written.latest('n1', at('100'))).toEqual(at('200'));
    await clock.advance(1);
    expect(written.latest('n1', at('100'))).toEqual(at('100'));
    expect(written.latest('n1', undefined)).toBeUndefined();
  });
});
