/**
 * Loaded into a process with `node --import`: its wall clock is off by as many seconds as `?seconds=` of this module's
 * own URL says. The monotonic clock and timers are what they were, as on a machine whose clock was set wrong.
 */
const offMs = Number(new URL(import.meta.url).searchParams.get('seconds')) * 1000;
const now = (): number => TrueDate.now() + offMs;
const TrueDate = Date;

// A proxy, not a class of its own: dates that Node.js itself makes have to be instances of it.
globalThis.Date = new Proxy(TrueDate, {
  construct: (date, parts: unknown[], target) =>
    Reflect.construct(date, parts.length === 0 ? [now()] : parts, target === globalThis.Date ? date : target) as Date,
  apply: () => new TrueDate(now()).toString(),
  get: (date, name) => (name === 'now' ? now : (Reflect.get(date, name) as unknown)),
});
