import { expect, it } from 'vitest';
import { readReport } from './report.ts';

const REFUSED = { url: 'http://a.example/', address: '169.254.169.254', reason: 'LinkLocal' };

function read(refused: unknown) {
  const connectivity = { plane: 'Host', port: 8_082, peers: [], targets: [], heard: {}, refused };
  return readReport('a', JSON.stringify({ report_interval: 60, nodename: 'n', podname: 'a', connectivity }));
}

it.each(['169.254.169.254', 'fe80::1', '::ffff:7f00:1'])('a report says that %s was refused', (address) => {
  const refused = [{ ...REFUSED, address }];
  expect(read(refused)).toMatchObject({ measurement: { refused } });
});

it.each([
  [{ address: 'fe80::1%eth0' }, /refused\.0\.address is "fe80::1%eth0": must be an IPv4 or IPv6 address/],
  [{ reason: 'Ugly' }, /refused\.0\.reason is "Ugly": must be one of Loopback, LinkLocal/],
  [{ url: 'u'.repeat(2_049) }, /refused\.0\.url is .*must have at most 2048 characters/],
])('a report with %j is invalid', (change, message) => {
  expect(read([{ ...REFUSED, ...change }])).toMatchObject({
    problem: { status: 400, text: expect.stringMatching(message) as string },
  });
});

it('a report with more than 128 refused URLs is invalid', () => {
  expect(read(new Array(129).fill(REFUSED))).toMatchObject({
    problem: { text: expect.stringMatching(/refused is .*must be a list of at most 128 entries/) as string },
  });
});
