import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTarget } from './exchange.ts';

describe('readTarget', () => {
  it.each([
    ['/', '/', ''],
    ['/healthz?verbose', '/healthz', 'verbose='],
    ['/a?b=c?d#e', '/a', 'b=c%3Fd'],
    ['//', '//', ''],
    ['//[', '//[', ''],
    ['/\\', '/\\', ''],
    ['/%zz', '/%zz', ''],
    ['/a?%zz', '/a', '%25zz='],
    ['http://host/healthz?x=1', '/healthz', 'x=1'],
    ['HTTPS://host:99999/', '/', ''],
  ])('reads %s', (target, path, query) => {
    const read = readTarget(target);
    expect([read?.path, read?.query.toString()]).toEqual([path, query]);
  });

  it.each([undefined, '', '*', 'host:80', 'http://', 'http://host', 'ftp://host/', '?x', 'healthz'])(
    'finds no path in %s',
    (target) => expect(readTarget(target)).toBeUndefined(),
  );

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (rest) => {
        readTarget(rest);
        expect(readTarget(`/${rest}`)?.path).toMatch(/^\//);
      }),
    );
  });
});
