import { expect, it } from 'vitest';
import { TransportError } from '../client/errors.ts';
import { createLogger, cutCredentials } from './logger.ts';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown> {
  let line = '';
  write(createLogger('info', { write: (text: string) => void (line += text) }));
  return JSON.parse(line) as Record<string, unknown>;
}

it('writes one JSON object with a level, a time and a constant message', () => {
  const line = logged((logger) => logger.info({ node: 'n1' }, 'node labelled'));

  expect(line).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    node: 'n1',
    msg: 'node labelled',
  });
});

it('removes secrets from fields, headers and texts', () => {
  const error = Object.assign(new Error('refused: Bearer abc.def-ghi'), {
    config: { headers: { Authorization: 'Bearer abc.def-ghi' } },
  });

  const line = JSON.stringify(
    logged((logger) =>
      logger.error(
        {
          err: error,
          token: 'abc.def-ghi',
          headers: { authorization: 'Basic abc.def-ghi' },
          url: 'http://u:abc.def-ghi@h/',
        },
        'call failed',
      ),
    ),
  );

  expect(line).not.toContain('abc.def-ghi');
  expect(line).toContain('refused');
});

it('logs the causes of an error, three levels deep', () => {
  const root = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const error = new TransportError('GET /version: failed', { failure: 'connection', cause: root });

  expect(logged((logger) => logger.warn({ err: error }, 'x')).err).toMatchObject({
    type: 'TransportError',
    message: 'GET /version: failed',
    cause: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
  });
});

it('logs the name of an error, not the name of its class, which a bundler can change', () => {
  class _Refused extends Error {
    override name = 'Refused';
  }

  expect(logged((logger) => logger.warn({ err: new _Refused('no') }, 'x')).err).toMatchObject({ type: 'Refused' });
});

it.each(['u:p', 'u', ':p', 'u:p@p', 'u:p:p', ''])('cuts the credentials %j out of a URL', (credentials) => {
  const rest = credentials === '' ? 'http://h/a@b' : 'http://[redacted]@h/a@b';
  expect(cutCredentials(`GET http://${credentials && `${credentials}@`}h/a@b`)).toBe(`GET ${rest}`);
});

it('does not change text without credentials', () => {
  expect(cutCredentials('GET https://10.0.0.1:6443/api?x=a@b')).toBe('GET https://10.0.0.1:6443/api?x=a@b');
});
