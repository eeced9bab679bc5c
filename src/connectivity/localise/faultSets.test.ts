import { expect, it } from 'vitest';
import { FINDING_CLASSES } from '../../api/connectivitycheck/finding.ts';
import { sampleSize } from '../../runtime/testing/sampleSize.ts';
import { accuracyPage, outcomeOf, scoresOf, type Outcome, type Score } from './testing/accuracy.ts';

/** For development: change the code until these are found. The quick sample contains each class of finding. */
const SETS = sampleSize({ quick: 100, full: 1_000 });
const FIRST_SEED = sampleSize({ quick: 641, full: 1 });
const sets = (first: number, count: number, withBaselines: boolean): Outcome[] =>
  Array.from({ length: count }, (_, n) => outcomeOf(first + n, withBaselines));

const precision = ({ right, found }: Score): number => right / found;
const recall = ({ right, wanted }: Score): number => right / wanted;

it('finds most faults of many sets, most of its findings are right, and other methods are worse', () => {
  const outcomes = sets(FIRST_SEED, SETS, true);
  console.log(accuracyPage(outcomes));
  if (process.env.SHOW_WRONG !== undefined) showWrong(outcomes);
  const certain = scoresOf(outcomes.filter(({ isAmbiguous }) => !isAmbiguous));
  const all = scoresOf(outcomes).at(-1)!;
  expect.soft(precision(certain.at(-1)!), 'precision').toBeGreaterThanOrEqual(0.95);
  expect.soft(recall(certain.at(-1)!), 'recall').toBeGreaterThanOrEqual(0.95);
  for (const score of certain.filter(({ wanted }) => wanted > 0)) {
    expect.soft(precision(score), `precision of ${score.name}`).toBeGreaterThanOrEqual(0.9);
    expect.soft(recall(score), `recall of ${score.name}`).toBeGreaterThanOrEqual(0.9);
  }
  expect.soft(precision(all), 'precision with ambiguous sets').toBeGreaterThanOrEqual(0.94);
  expect.soft(recall(all), 'recall with ambiguous sets').toBeGreaterThanOrEqual(0.94);
  const ofOneFamily = outcomes.flatMap(({ faults }) => faults.filter((fault) => fault.isOfOneFamily));
  expect(ofOneFamily.length).toBeGreaterThanOrEqual(sampleSize({ quick: 15, full: 200 }));
  expect.soft(ofOneFamily.filter(({ isFound }) => isFound).length / ofOneFamily.length).toBeGreaterThanOrEqual(0.9);
  for (const name of Object.keys(outcomes[0]!.baselines)) {
    const other = scoresOf(outcomes, ({ baselines }) => baselines[name]!).at(-1)!;
    expect.soft(precision(other), `precision of ${name}`).toBeLessThan(precision(all));
    expect.soft(recall(other), `recall of ${name}`).toBeLessThan(recall(all));
  }
  // All classes that agents can find, apart from slow round trips: the sets have none.
  const simulated = FINDING_CLASSES.filter((name) => name !== 'Server' && name !== 'Latency');
  expect(certain.flatMap(({ name, wanted }) => (wanted > 0 && name !== 'all' ? [name] : []))).toEqual(simulated);
}, 300_000);

function showWrong(outcomes: readonly Outcome[]): void {
  const wrong = outcomes.filter(({ isAmbiguous, wanted, found }) => !isAmbiguous && wanted.join() !== found.join());
  for (const { seed, cluster, injected, wanted, found } of wrong.slice(0, 40)) {
    console.log(
      ...[seed, cluster.nodes.length, cluster.serverNode, JSON.stringify(injected)],
      ...['\n  wanted', wanted.join('; '), '\n  found ', found.slice(0, 8).join('; '), found.length],
    );
  }
}
