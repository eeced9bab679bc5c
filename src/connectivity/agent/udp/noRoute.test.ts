import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../../runtime/process/clock.ts';
import { probeDnsUdp } from '../targets/targets.ts';
import { EchoSocket } from './echoSocket.ts';

/** A connect to the address for broadcasts fails at once on every machine, like one to an address without a route. */
const NO_ROUTE = '255.255.255.255';
const { signal } = new AbortController();

const openSockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'UDPWrap').length;

afterEach(() => vi.waitFor(() => expect(openSockets()).toBe(0)));

it('the echo of a peer that has no route is the error of the system, and leaves no socket', async () => {
  const opened = EchoSocket.open({ address: NO_ROUTE, port: 9 }, 'a', systemClock, signal);
  await expect(opened).rejects.toMatchObject({ code: 'EACCES', syscall: 'connect' });
});

it('a DNS server that has no route has not answered', async () => {
  const result = await probeDnsUdp(
    { server: NO_ROUTE, name: 'a.example' },
    { timeoutMs: 5_000, clock: systemClock, signal },
  );
  expect(result).toEqual({ target: 'DNSUDP', address: `${NO_ROUTE}:53`, ok: false, error: 'Other' });
});
