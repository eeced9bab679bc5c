import { expect, it, vi } from 'vitest';
import { step, watchUntil } from './steps.ts';

it('a step that fails is named, with what the program that failed has printed', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const cause = Object.assign(new Error('Command failed: kubectl apply'), { stderr: 'must be a finite number\n' });
  await expect(step('kubectl apply: TrafficWatch web', () => Promise.reject(cause))).rejects.toThrow(
    'step "kubectl apply: TrafficWatch web" failed: Command failed: kubectl apply\nmust be a finite number',
  );
});

it('a wait shows all that it sees, and what it waited for if that does not come', async () => {
  const shown: number[] = [];
  const [see, show] = [() => Promise.resolve(1), (seen: number) => void shown.push(seen)];
  expect(await watchUntil('it is 1', see, show, (seen) => seen === 1)).toBe(1);
  await expect(watchUntil('it is 2', see, show, (seen) => seen === 2, -1)).rejects.toThrow('in vain until it is 2');
  expect(shown).toEqual([1, 1]);
});
