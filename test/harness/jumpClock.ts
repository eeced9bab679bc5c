/**
 * Loaded into a process with `node --import`. At SIGUSR2 its wall clock jumps by the seconds in `?seconds=` of this module's
 * URL, as if someone had set the clock of the machine. The monotonic clock and timers do not change.
 */
const jumpMs = Number(new URL(import.meta.url).searchParams.get('seconds')) * 1000;
let offMs = 0;
process.on('SIGUSR2', () => (offMs += jumpMs));

const TrueDate = Date;
const now = (): number => TrueDate.now() + offMs;

// A proxy instead of a subclass: dates that Node.js itself creates must be instances of it.
globalThis.Date = new Proxy(TrueDate, {
  construct: (date, parts: unknown[], target) =>
    Reflect.construct(date, parts.length === 0 ? [now()] : parts, target === globalThis.Date ? date : target) as Date,
  apply: () => new TrueDate(now()).toString(),
  get: (date, name) => (name === 'now' ? now : (Reflect.get(date, name) as unknown)),
});
