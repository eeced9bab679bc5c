import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Busiest } from './busiest.ts';

it('has the counts that were added and removed, and a member with the highest', () => {
  const steps = fc.array(fc.tuple(fc.nat(5), fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (changes) => {
      const busiest = new Busiest<number>();
      const counts = new Map<number, number>();
      for (const [member, isMore] of changes) {
        const count = counts.get(member) ?? 0;
        if (!isMore && count === 0) continue;
        counts.set(member, count + (isMore ? 1 : -1));
        if (isMore) busiest.add(member);
        else busiest.remove(member);
        const { first } = busiest;
        const most = Math.max(...counts.values());
        expect(first === undefined ? 0 : counts.get(first)).toBe(most);
        expect(busiest.of(member)).toBe(counts.get(member));
      }
    }),
    { numRuns: 100, seed: 42 },
  );
});
