import type { lookup } from 'node:dns';

type Done = (error: null, address: string, family: number) => void;

/** In place of a name lookup, for sockets whose addresses are numbers always. */
export const numbersOnly = ((host: string, _family: unknown, done: Done) =>
  done(null, host, host.includes(':') ? 6 : 4)) as typeof lookup;
