import { describe, expect, it } from 'vitest';
import { cidr } from '../../../options/connectivityValues.ts';
import { targetRule } from './targetRule.ts';

const OWN = ['192.0.2.7', '10.244.1.9', '2001:db8::7', 'fe80::5%eth0'];
const rule = (...allowed: string[]) =>
  targetRule(
    allowed.map((text) => cidr.schema.parse(text)),
    OWN,
  );

describe('an address that leads to the node or to its cloud is refused', () => {
  it.each([
    ['127.0.0.1', 'Loopback'],
    ['127.255.255.255', 'Loopback'],
    ['::1', 'Loopback'],
    ['0:0:0:0:0:0:0:1', 'Loopback'],
    ['0.0.0.0', 'Unspecified'],
    ['0.1.2.3', 'Unspecified'],
    ['::', 'Unspecified'],
    ['169.254.169.254', 'LinkLocal'],
    ['169.254.20.10', 'LinkLocal'],
    ['fe80::1', 'LinkLocal'],
    ['fe80::1%eth0', 'LinkLocal'],
    ['febf::1', 'LinkLocal'],
    ['224.0.0.1', 'Multicast'],
    ['239.255.255.255', 'Multicast'],
    ['ff02::1', 'Multicast'],
    ['255.255.255.255', 'Broadcast'],
    ['fd00:ec2::254', 'CloudMetadata'],
    ['fd20:ce::254', 'CloudMetadata'],
    ['100.100.100.200', 'CloudMetadata'],
    ['168.63.129.16', 'CloudMetadata'],
    ['192.0.0.192', 'CloudMetadata'],
    ['192.0.2.7', 'OwnAddress'],
    ['10.244.1.9', 'OwnAddress'],
    ['2001:db8::7', 'OwnAddress'],
    ['2001:0DB8:0::0007', 'OwnAddress'],
  ])('%s: %s', (address, reason) => expect(rule()(address)).toBe(reason));

  it.each([
    ['IPv4-mapped', (v4: string) => `::ffff:${v4}`],
    ['IPv4-compatible', (v4: string) => `::${v4}`],
    ['IPv4-translated', (v4: string) => `::ffff:0:${v4}`],
    ['NAT64', (v4: string) => `64:ff9b::${v4}`],
    ['NAT64 of a network', (v4: string) => `64:ff9b:1:2:3:4:${v4}`],
    ['6to4', (v4: string) => `2002:${hexPair(v4)}::1`],
  ])('in the notation %s', (_, write) => {
    const addresses = ['127.0.0.1', '169.254.169.254', '224.0.0.1', '192.0.2.7'];
    expect(addresses.map((address) => rule()(write(address)))).toEqual([
      'Loopback',
      'LinkLocal',
      'Multicast',
      'OwnAddress',
    ]);
    expect(rule()(write('198.51.100.1'))).toBeUndefined();
  });
});

it.each([
  '198.51.100.1',
  '10.96.0.10',
  '192.0.2.8',
  '10.244.1.8',
  '128.0.0.1',
  '126.255.255.255',
  '2001:db8::8',
  'fd00::1',
  '2001:db8::7f00:1',
])('%s is allowed: another node, a Service, a pod, or the rest of the world', (address) =>
  expect(rule()(address)).toBeUndefined(),
);

describe('a range that is allowed', () => {
  it('allows its own addresses only', () => {
    const decide = rule('169.254.20.10/32', 'fe80::/64');
    expect(['169.254.20.10', '::ffff:169.254.20.10', 'fe80::9%eth0'].map(decide)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(['169.254.20.11', '169.254.169.254', 'fe81::9', '127.0.0.1'].map(decide)).toEqual([
      'LinkLocal',
      'LinkLocal',
      'LinkLocal',
      'Loopback',
    ]);
  });

  it('allows addresses of the node, and all of a family', () => {
    expect(rule('192.0.2.7/32')('192.0.2.7')).toBeUndefined();
    expect(['127.0.0.1', '192.0.2.7', '64:ff9b::7f00:1'].map(rule('0.0.0.0/0'))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(rule('0.0.0.0/0')('::1')).toBe('Loopback');
  });
});

function hexPair(v4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
