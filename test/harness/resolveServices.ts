import dns from 'node:dns';

/**
 * Loaded into a process with `node --import`: the names of Services (`*.svc`) lead to this machine, where the test runs what is behind
 * them, on 127.0.0.1 or on the address of a variable. No DNS of a cluster runs here.
 */
const { TRAFFIC_OPERATOR_TEST_SERVICES: address = '127.0.0.1' } = process.env;
const { lookup } = dns;

dns.lookup = ((hostname: string, ...rest: unknown[]) =>
  Reflect.apply(lookup, dns, [
    hostname.endsWith('.svc') ? address : hostname,
    ...rest,
  ]) as unknown) as typeof dns.lookup;
