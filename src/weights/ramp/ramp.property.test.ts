import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Rollback } from './ramp.ts';
import { FAILED, INTERVAL_MS, NO_DATA, PASSED, Ramped } from './testing/ramped.ts';

it('never leaves the way, steps no further than a step and no sooner than the interval, and ends', () => {
  const settings = fc.record({
    step: fc.integer({ min: 1, max: 255 }),
    isGated: fc.boolean(),
    failureLimit: fc.integer({ min: 0, max: 2 }),
    rollback: fc.constantFrom<Rollback[]>('Gradual', 'Immediate', 'Hold'),
  });
  const weight = fc.integer({ min: 0, max: 255 });
  const moments = fc.array(
    fc.record({
      gate: fc.constantFrom(PASSED, PASSED, FAILED, NO_DATA),
      waitMs: fc.integer({ min: 0, max: 2 * INTERVAL_MS }),
      isRead: fc.boolean(),
      desired: fc.option(weight, { freq: 10 }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(settings, weight, weight, moments, (given, from, to, events) => {
      const ramped = new Ramped(given);
      [ramped.weight, ramped.desired] = [from, to];
      const seen = [from, to];
      let steppedAt = -Infinity;
      for (const { gate, waitMs, isRead, desired } of events) {
        Object.assign(ramped, { gate, isRead, now: ramped.now + waitMs, desired: desired ?? ramped.desired });
        if (desired !== null) seen.push(desired);
        const before = ramped.weight;
        ramped.reconcile();
        const moved = Math.abs(ramped.weight - before);
        expect(ramped.weight).toBeGreaterThanOrEqual(Math.min(...seen));
        expect(ramped.weight).toBeLessThanOrEqual(Math.max(...seen));
        if (moved === 0) continue;
        const isBack = ramped.state?.phase === 'RolledBack' || ramped.weight === ramped.desired;
        if (!isBack) {
          expect(moved).toBeLessThanOrEqual(given.step);
          expect(ramped.now - steppedAt).toBeGreaterThanOrEqual(INTERVAL_MS);
        }
        steppedAt = ramped.now;
      }
      Object.assign(ramped, { gate: PASSED, isRead: true });
      for (let n = 0; n < 600; n += 1) ramped.run(1);
      const { state } = ramped;
      if (state === undefined) expect(ramped.weight).toBe(ramped.desired);
      else expect(['RolledBack', 'Held']).toContain(state.phase);
    }),
    { numRuns: 500 },
  );
});
