import dns from 'node:dns';

/**
 * Loaded into a process with `node --import`: the names of Services (`*.svc`) lead to this machine, where the test runs what is behind
 * them. No DNS of a cluster runs here.
 */
const { lookup } = dns;

dns.lookup = ((hostname: string, ...rest: unknown[]) =>
  Reflect.apply(lookup, dns, [
    hostname.endsWith('.svc') ? '127.0.0.1' : hostname,
    ...rest,
  ]) as unknown) as typeof dns.lookup;
