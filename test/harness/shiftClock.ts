/**
 * Loaded into a process with `node --import`. Shifts its wall clock by the seconds in `?seconds=` of this module's URL.
 * The monotonic clock and timers do not change, as on a machine with a wrong clock.
 */
const offMs = Number(new URL(import.meta.url).searchParams.get('seconds')) * 1000;
const now = (): number => TrueDate.now() + offMs;
const TrueDate = Date;

// A proxy instead of a subclass: dates that Node.js itself creates must be instances of it.
globalThis.Date = new Proxy(TrueDate, {
  construct: (date, parts: unknown[], target) =>
    Reflect.construct(date, parts.length === 0 ? [now()] : parts, target === globalThis.Date ? date : target) as Date,
  apply: () => new TrueDate(now()).toString(),
  get: (date, name) => (name === 'now' ? now : (Reflect.get(date, name) as unknown)),
});
