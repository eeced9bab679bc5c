import { setImmediate as nextTurn } from 'node:timers/promises';

/** libuv accepts one connection in each turn of the event loop. A turn without work takes 20 µs. */
const TURNS = 4;

/**
 * Resolves after some turns of the event loop, in which others are answered. With an answer of 1.5 ms, and 2 ms of work before
 * each call, 500 new connections a second are answered; with one turn they would be 280.
 */
export async function othersTurn(): Promise<void> {
  for (let n = 0; n < TURNS; n += 1) await nextTurn();
}
