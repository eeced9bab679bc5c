import { expect, it } from 'vitest';
import { readAssignment } from '../agent/reportSender.ts';
import { MOST_PEERS } from '../assign/assignments.ts';
import { MOST_LINKS_OF_NODE } from '../assign/suspectLinks.ts';
import type { Assignment, Measurement } from './measurement.ts';
import { readReport, REPORT_LIMIT_BYTES } from './report.ts';

/** A server assigns the most peers of the rotation, and the most suspect links, all of two address families and long names. */
const NODES = Array.from({ length: MOST_PEERS + MOST_LINKS_OF_NODE }, (_, n) => `${'n'.repeat(60)}-${n}`);
const ADDRESSES = ['198.18.100.100', '2001:db8:1111:2222:3333:4444:5555:6666'];

it('an agent accepts the largest assignment, and the server the report on it', () => {
  const peers = NODES.map((node) => ({ node, addresses: ADDRESSES, port: 8_082 }));
  const assignment: Assignment = { peers, probes: { dns: true, apiServer: true, mtu: true }, urls: [] };
  expect(readAssignment(JSON.stringify(assignment)).peers).toHaveLength(NODES.length);
  const udp = { sent: 20, received: 20, ms: 10.123 };
  const mtu = { interface: 1_500, largest: 1_400 };
  const results = NODES.flatMap((node) =>
    ADDRESSES.map((address) => ({ node, address, tcp: { ok: true, ms: 10.123 }, udp, mtu })),
  );
  const heard = Object.fromEntries(NODES.map((node) => [node, 1_000]));
  const connectivity: Measurement = { plane: 'Pod', port: 8_082, peers: results, targets: [], heard };
  const body = JSON.stringify({ report_interval: 60, nodename: 'n', podname: 'a', connectivity });
  expect(body.length).toBeLessThan(REPORT_LIMIT_BYTES / 1.2);
  expect(readReport('a', body)).toMatchObject({ measurement: { plane: 'Pod' } });
});
