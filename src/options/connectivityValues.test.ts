import { describe, expect, it } from 'vitest';
import { cidr, hexOf } from './connectivityValues.ts';

describe('cidr', () => {
  it.each([
    ['169.254.20.10/32', { address: '169.254.20.10', prefix: 32, family: 'ipv4' }],
    ['0.0.0.0/0', { address: '0.0.0.0', prefix: 0, family: 'ipv4' }],
    ['10.0.0.0/7', { address: '10.0.0.0', prefix: 7, family: 'ipv4' }],
    ['fd00:1::/64', { address: 'fd00:1::', prefix: 64, family: 'ipv6' }],
    ['::/0', { address: '::', prefix: 0, family: 'ipv6' }],
  ])('reads %s', (text, read) => expect(cidr.schema.parse(text)).toEqual({ text, ...read }));

  it.each([
    '169.254.20.10',
    '169.254.20.10/33',
    '169.254.20.10/16',
    '::1/129',
    'fd00:1::5/64',
    'fe80::%eth0/64',
    '010.0.0.0/8',
    'example.com/8',
    '10.0.0.0/-1',
    '',
  ])('refuses %j', (text) => expect(() => cidr.schema.parse(text)).toThrow(/must be a range of IP addresses/));
});

it.each([
  ['1.2.3.255', '010203ff'],
  ['::', '0'.repeat(32)],
  ['::1', `${'0'.repeat(31)}1`],
  ['fd00:ec2::254', 'fd000ec2000000000000000000000254'],
  ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['1::', `0001${'0'.repeat(28)}`],
])('%s has the bytes %s', (address, hex) => expect(hexOf(address)).toBe(hex));
