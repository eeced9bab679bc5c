import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_DATAGRAMS } from '../protocol/limits.ts';
import { readAssignment } from './reportSender.ts';
import { LEAST_BYTES, probeDatagram, probeSender, replySequence, setSequence, turnIntoReply } from './udp/datagram.ts';
import { clusterDns, dnsQuestion, isAnswered } from './targets/dnsMessage.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { EchoLimit } from './udp/echoLimit.ts';
import { Heard } from './udp/heard.ts';
import { MOST_SIZES, mtuResult, nextSize, startSearch, triesFor, withTried } from './udp/mtuSearch.ts';
import { probeError } from './probeError.ts';
import { median, udpResult } from './udp/roundTrips.ts';
import { probeSchedule } from './peers/schedule.ts';
import { EarlyRuns } from './spread.ts';

const TOKEN = Buffer.from('12345678');

describe('a probe datagram', () => {
  it('says its sender, and comes back with its sequence number and size', () => {
    const datagram = probeDatagram('node-1.example', TOKEN, 1_472);
    setSequence(datagram, 70_000);
    expect(datagram).toHaveLength(1_472);
    expect(probeSender(datagram)).toBe('node-1.example');
    expect(replySequence(datagram, TOKEN)).toBeUndefined();
    turnIntoReply(datagram);
    expect(replySequence(datagram, TOKEN)).toBe(70_000);
    expect(replySequence(datagram, Buffer.from('87654321'))).toBeUndefined();
  });

  it('is not answered if it is an answer: two agents would answer each other for ever', () => {
    const datagram = probeDatagram('a', TOKEN, 0);
    turnIntoReply(datagram);
    expect(probeSender(datagram)).toBeUndefined();
  });

  it('has no sender if the node is not known', () => {
    expect(probeSender(probeDatagram('', TOKEN, 0))).toBe('');
  });

  it.each([
    ['shorter than a probe', (d: Buffer) => d.subarray(0, LEAST_BYTES - 1)],
    ['of another program', (d: Buffer) => d.fill(0, 0, 1)],
    ['with a name that no node has', (d: Buffer) => d.fill('/', 18, 19)],
    ['with a name longer than allowed', (d: Buffer) => d.fill(255, 5, 6)],
  ])('is ignored if it is %s', (_, change) => {
    expect(probeSender(change(probeDatagram('node', TOKEN, 0)))).toBeUndefined();
  });

  it('of any bytes throws nothing', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void probeSender(Buffer.from(bytes))));
  });
});

describe('the search for the MTU', () => {
  /** @returns the result, and the sizes that were tried */
  const search = (mtu: number, passes: (size: number) => boolean) => {
    const sizes: number[] = [];
    let at = startSearch(mtu, 299);
    for (let size = nextSize(at); size !== undefined; size = nextSize(at)) {
      sizes.push(size);
      at = withTried(at, size, passes(size));
    }
    return { ...mtuResult(at), sizes };
  };

  it('tries one size in a healthy network', () => {
    expect(search(1_500, () => true)).toEqual({ interface: 1_500, largest: 1_500, sizes: [1_500] });
  });

  it('tries the MTU again, since the kernel splits packets once a router said that they are too large', () => {
    let count = 0;
    expect(search(1_500, () => ++count > 1)).toEqual({ interface: 1_500, largest: 1_500, sizes: [1_500, 1_500] });
  });

  it('finds every limit of an interface with 1,500 bytes, and within 4 bytes with 9,000', () => {
    fc.assert(
      fc.property(fc.constantFrom(1_500, 9_000), fc.integer({ min: 299, max: 8_999 }), (mtu, limit) => {
        const { largest, sizes } = search(mtu, (size) => size <= limit);
        // The promise of docs/connectivity.md, not MOST_SIZES: the test says whether that is too many.
        expect(sizes.length).toBeLessThanOrEqual(13);
        const real = Math.min(limit, mtu);
        expect(largest).toBeLessThanOrEqual(real);
        expect(largest).toBeGreaterThanOrEqual(mtu === 1_500 ? real : real - 4);
      }),
    );
  });

  it('is 4 bytes off at most, for whatever limit of an interface with 9,000', () => {
    const limits = Array.from({ length: 9_000 - 299 }, (_, n) => 299 + n);
    const off = limits.map((limit) => limit - search(9_000, (size) => size <= limit).largest);
    expect([Math.min(...off), Math.max(...off)]).toEqual([0, 4]);
  });

  it('does not take the size of loopback, which no packet has', () => {
    expect(search(65_536, () => true)).toMatchObject({ interface: 65_535, largest: 65_535 });
  });

  it.each([
    [0, 3],
    [0.05, 3],
    [0.3, 6],
    [0.5, 8],
    [0.55, 0],
  ])('with a loss of %f tries each size %i times', (loss, tries) => expect(triesFor(loss)).toBe(tries));
});

describe('a run of datagrams', () => {
  it.each([
    [[], undefined],
    [[3], 3],
    [[9, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
  ])('of %j has the median %s', (times, middle) => expect(median(times)).toBe(middle));

  it('has a time only if something came back, else a reason', () => {
    expect(udpResult({ sent: 20, times: [1, 2, 3] })).toEqual({ sent: 20, received: 3, ms: 2 });
    expect(udpResult({ sent: 20, times: [] })).toEqual({ sent: 20, received: 0, error: 'Timeout' });
    expect(udpResult({ sent: 20, times: [], error: 'Unreachable' }).error).toBe('Unreachable');
  });
});

describe('Heard', () => {
  it('starts from zero after it was taken, and keeps what did not get through', () => {
    const heard = new Heard();
    heard.add('a');
    const taken = heard.take();
    expect(taken).toEqual({ a: 1 });
    heard.add('a');
    heard.restore(taken);
    expect(heard.take()).toEqual({ a: 2 });
    expect(heard.take()).toEqual({});
  });

  it('counts no more than a server accepts', () => {
    const heard = new Heard();
    heard.add('a', MOST_DATAGRAMS);
    heard.add('a');
    expect(heard.take()).toEqual({ a: MOST_DATAGRAMS });
  });

  it('is bounded', () => {
    const heard = new Heard();
    for (let n = 0; n < 1_000; n += 1) heard.add(`n${n}`);
    expect(Object.keys(heard.take())).toHaveLength(128);
  });

  it('always counts the peers of the assignment, whatever names were made up before', () => {
    const heard = new Heard();
    const peers = Array.from({ length: 64 }, (_, n) => `peer${n}`);
    heard.expect(peers.map((node) => ({ node, addresses: [], port: 1 })));
    heard.add('peer0');
    for (let n = 0; n < 1_000; n += 1) heard.add(`n${n}`);
    for (const peer of peers) heard.add(peer);
    const counts = heard.take();
    expect(Object.keys(counts)).toHaveLength(128);
    expect(peers.map((peer) => counts[peer])).toEqual([2, ...Array<number>(63).fill(1)]);
  });

  it('knows the addresses of the peers of the newest assignment, as the system writes them', () => {
    const heard = new Heard();
    heard.expect([{ node: 'a', addresses: ['10.0.0.1', 'FD00:0:0::0A'], port: 1 }]);
    expect(['10.0.0.1', 'fd00::a', '10.0.0.2'].map((address) => heard.isPeer(address))).toEqual([true, true, false]);
    heard.expect([]);
    expect(heard.isPeer('10.0.0.1')).toBe(false);
  });
});

describe('EchoLimit', () => {
  const allowed = (limit: EchoLimit, address: string, isPeer = false): number => {
    let count = 0;
    while (limit.allows(address, 1_500, isPeer)) count += 1;
    return count;
  };

  it('allows an address a burst, and then as much as its rate', async () => {
    const clock = new FakeClock();
    const limit = new EchoLimit(clock);
    expect(allowed(limit, '10.0.0.1')).toBe(419);
    expect(allowed(limit, '10.0.0.1')).toBe(0);
    await clock.advance(1_000);
    expect(allowed(limit, '10.0.0.1')).toBeCloseTo(105, -1);
  });

  it('is not used up by a flood from one address', async () => {
    const clock = new FakeClock();
    const limit = new EchoLimit(clock);
    for (let second = 0; second < 60; second += 1) {
      allowed(limit, '10.0.0.66');
      expect(limit.allows('10.0.0.2', 1_500, false)).toBe(true);
      await clock.advance(1_000);
    }
  });

  it('bounds all addresses together, however many there are', () => {
    const limit = new EchoLimit(new FakeClock());
    const counts = Array.from({ length: 2_000 }, (_, n) => allowed(limit, `10.0.${n >> 8}.${n & 255}`));
    expect(counts.reduce((sum, count) => sum + count)).toBe(1_677);
    const ofPeers = Array.from({ length: 64 }, (_, n) => allowed(limit, `10.1.0.${n}`, true));
    expect(ofPeers.reduce((sum, count) => sum + count)).toBe(839);
  });

  it('is not used up for the peers of the assignment by a flood from many other addresses', async () => {
    const clock = new FakeClock();
    const limit = new EchoLimit(clock);
    for (let second = 0; second < 60; second += 1) {
      for (let n = 0; n < 40; n += 1) allowed(limit, `10.1.0.${n}`);
      for (let n = 0; n < 25; n += 1) expect(limit.allows('10.0.0.2', 1_500, true)).toBe(true);
      await clock.advance(1_000);
    }
  });
});

describe('probeSchedule', () => {
  it('ends well within half of the interval, however many addresses there are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 3_600 }), fc.nat(256), (seconds, addresses) => {
        const s = probeSchedule(seconds * 1_000, addresses);
        const udp = s.gapMs * s.datagrams + s.echoWaitMs + s.mtuStepMs * MOST_SIZES;
        const groups = Math.ceil(addresses / 32);
        expect(Math.max(udp, s.tcpMs) * groups).toBeLessThan(seconds * 500);
        expect(s.mtuStepMs).toBeGreaterThan(0);
      }),
    );
  });
});

describe('EarlyRuns', () => {
  const assignment = (...nodes: string[]) => ({
    peers: nodes.map((node) => ({ node, addresses: [], port: 1 })),
    probes: { dns: true, apiServer: true, mtu: true },
    urls: [],
  });

  it('measures new peers within 2 s, and then at the regular moment', () => {
    const runs = new EarlyRuns();
    expect(runs.delayMs('a', assignment('b'), 30_000)).toBeLessThanOrEqual(2_000);
    runs.measured(assignment('b'));
    expect(runs.delayMs('a', assignment('b'), 30_000)).toBe(30_000);
  });

  it('comes to an end where there are no peers', () => {
    const runs = new EarlyRuns();
    const delays = Array.from({ length: 7 }, () => runs.delayMs('a', assignment(), 30_000));
    expect(delays[1]).toBe(2 * delays[0]!);
    expect(delays.slice(5)).toEqual([30_000, 30_000]);
  });
});

describe('readAssignment', () => {
  const peer = { node: 'b', addresses: ['10.0.0.1', 'fd00::1'], port: 8082 };
  const valid = { peers: [peer], probes: { dns: true, apiServer: false, mtu: true }, urls: ['http://a/'] };

  it('reads what a server assigns', () => {
    expect(readAssignment(JSON.stringify({ ...valid, later: 1 }))).toEqual(valid);
    expect(readAssignment(JSON.stringify({ ...valid, intervalSeconds: 5 }))).toEqual({ ...valid, intervalSeconds: 5 });
  });

  it.each([
    [{ peers: 1 }, /peers is 1/],
    [{ peers: [{ ...peer, node: '../a' }] }, /peers\.0\.node is "\.\.\/a": must be the name of a node/],
    [{ peers: [{ ...peer, addresses: ['example.com'] }] }, /must be an IP address/],
    [{ peers: [{ ...peer, addresses: ['fe80::1%eth0'] }] }, /must be an IP address/],
    [{ peers: [{ ...peer, port: 0 }] }, /must be a whole number from 1 to 65535/],
    [{ peers: new Array(65).fill(peer) }, /must have at most 64/],
    [{ intervalSeconds: 1 }, /intervalSeconds is 1: must be a whole number from 2 to 86400/],
    [{ probes: { dns: 1 } }, /probes\.dns is 1: must be true or false/],
  ])('refuses %j', (change, message) => {
    expect(() => readAssignment(JSON.stringify({ ...valid, ...change }))).toThrow(message);
  });
});

describe('DNS', () => {
  it('asks for the API server in the domain of the cluster', () => {
    const file = 'search ns.svc.k8s.example svc.k8s.example k8s.example\nnameserver 10.96.0.10\nnameserver 1.1.1.1\n';
    expect(clusterDns(file)).toEqual({ server: '10.96.0.10', name: 'kubernetes.default.svc.k8s.example' });
    expect(clusterDns('nameserver ::1')?.name).toBe('kubernetes.default.svc.cluster.local');
    expect(clusterDns('search a')).toBeUndefined();
  });

  it('encodes a question as RFC 1035 says', () => {
    expect(dnsQuestion(0x1234, 'ab.c').toString('hex')).toBe(
      '123401000001000000000000' + '026162' + '0163' + '0000010001',
    );
  });

  it.each([
    ['NOERROR', 0x8180, true],
    ['NXDOMAIN', 0x8183, true],
    ['SERVFAIL', 0x8182, false],
    ['a question', 0x0100, undefined],
  ])('takes %s for %s', (_, flags, answered) => {
    const message = dnsQuestion(7, 'a');
    message.writeUInt16BE(flags, 2);
    expect(isAnswered(message, 7)).toBe(answered);
    expect(isAnswered(message, 8)).toBeUndefined();
    expect(isAnswered(message.subarray(0, 11), 7)).toBeUndefined();
  });
});

describe('probeError', () => {
  it.each([
    [{ code: 'ECONNREFUSED' }, 'Refused'],
    [{ code: 'EHOSTUNREACH' }, 'Unreachable'],
    [{ code: 'EMSGSIZE' }, 'TooLarge'],
    [{ name: 'AbortError', code: 'ABORT_ERR' }, 'Timeout'],
    [new Error('x'), 'Other'],
  ])('of %o is %s', (error, expected) => expect(probeError(error)).toBe(expected));
});
