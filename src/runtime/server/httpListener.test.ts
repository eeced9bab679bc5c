import { describe, expect, it } from 'vitest';
import { parseBindAddress } from './httpListener.ts';

describe('parseBindAddress', () => {
  it.each([
    ['0', 'off'],
    [':8080', { port: 8080 }],
    [':0', { port: 0 }],
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['localhost:65535', { host: 'localhost', port: 65_535 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
  ])('reads %s', (text, address) => expect(parseBindAddress(text)).toEqual(address));

  it.each(['', '8080', ':', ':65536', ':http', '::1:8080', 'a b:1', 'http://a:1', ':8080/'])('rejects %s', (text) => {
    expect(parseBindAddress(text)).toBeUndefined();
  });
});
