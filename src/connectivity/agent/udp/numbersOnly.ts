import type { lookup } from 'node:dns';

type Done = (error: null, address: string, family: number) => void;

/** Replaces the name lookup of sockets whose addresses are always numbers. */
export const numbersOnly = ((host: string, _family: unknown, done: Done) =>
  done(null, host, host.includes(':') ? 6 : 4)) as typeof lookup;
