import { FINDING_CLASSES, type Finding } from '../../../api/connectivitycheck/finding.ts';
import { localise } from '../localise.ts';
import { BASELINES } from './baselines.ts';
import { aCluster, expectedFinding, isOfOneFamily, nameOf, someFaults, statedBy, visible } from './faultSets.ts';
import { seeded } from './random.ts';
import type { SimCluster, SimFault } from './simCluster.ts';
import { observable, simulate } from './simulate.ts';

/** The simulated faults of one seed, and what was found. Findings are texts of class, subject and severity. */
export interface Outcome {
  readonly seed: number;
  readonly cluster: SimCluster;
  readonly injected: readonly SimFault[];
  /** The findings that the faults are to be found by, without faults that others hide. */
  readonly wanted: readonly string[];
  readonly found: readonly string[];
  /** Faults that count, each with whether it was found. */
  readonly faults: readonly { readonly name: string; readonly isOfOneFamily: boolean; readonly isFound: boolean }[];
  /** Faults of the findings would cause the same reports, and are as few: the reports do not show which faults there are. */
  readonly isAmbiguous: boolean;
  /** The findings of other methods, by their names. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
}

/**
 * Simulates a set of faults, and locates them.
 *
 * A fault that other faults hide does not count: the reports are the same without it. Examples: an agent that is killed on a
 * node that is cut, and any fault elsewhere when the server's own node is cut. Nor does a delay, which is no finding.
 */
export function outcomeOf(seed: number, withBaselines = false): Outcome {
  const random = seeded(seed);
  const cluster = aCluster(random);
  const injected = someFaults(cluster, random);
  const faults = visible(cluster, injected).filter((fault) => expectedFinding(fault) !== undefined);
  const view = simulate(cluster, injected, random);
  const { findings } = localise(view);
  const wanted = [...new Set(faults.map((fault) => expectedFinding(fault)!))].sort();
  const found = textsOf(findings);
  const others = withBaselines ? Object.entries(BASELINES) : [];
  return {
    ...{ seed, cluster, injected, wanted, found },
    faults: faults.map((fault) => ({
      name: nameOf(fault),
      isOfOneFamily: isOfOneFamily(fault),
      isFound: found.includes(expectedFinding(fault)!),
    })),
    isAmbiguous: wanted.join() !== found.join() && wouldLookTheSame(cluster, injected, findings, wanted.length),
    baselines: Object.fromEntries(others.map(([name, find]) => [name, textsOf(localise(view, find).findings)])),
  };
}

function textsOf(findings: readonly Finding[]): string[] {
  return findings.map(({ class: one, subjects, severity }) => `${one} ${subjects.join()} ${severity}`).sort();
}

function wouldLookTheSame(
  cluster: SimCluster,
  injected: readonly SimFault[],
  findings: readonly Finding[],
  most: number,
): boolean {
  const delays = injected.filter((fault) => expectedFinding(fault) === undefined);
  const stated = [...statedBy(findings), ...delays];
  return findings.length <= most && observable(cluster, stated) === observable(cluster, injected);
}

/** Numbers of findings: to be found, found, and both. */
export interface Score {
  readonly name: string;
  readonly wanted: number;
  readonly found: number;
  readonly right: number;
}

type Found = (outcome: Outcome) => readonly string[];
const own: Found = ({ found }) => found;

/** Returns the score of each class of findings, then of all. A finding is right if a fault has the same class, subject and severity. */
export function scoresOf(outcomes: readonly Outcome[], found: Found = own): readonly Score[] {
  const score = (name: string, isOf: (text: string) => boolean): Score => {
    const sum = (of: Found) => outcomes.reduce((total, outcome) => total + of(outcome).filter(isOf).length, 0);
    const right: Found = (outcome) => found(outcome).filter((text) => outcome.wanted.includes(text));
    return { name, wanted: sum(({ wanted }) => wanted), found: sum(found), right: sum(right) };
  };
  const classes = FINDING_CLASSES.map((name) => score(name, (text) => text.startsWith(`${name} `)));
  return [...classes, score('all', () => true)];
}

const percent = (part: number, whole: number): string => (whole === 0 ? '-' : ((100 * part) / whole).toFixed(1));

/** Returns the accuracy as Markdown: tables by class of finding and by kind of fault, and the ambiguous sets. */
export function accuracyPage(outcomes: readonly Outcome[]): string {
  const certain = outcomes.filter(({ isAmbiguous }) => !isAmbiguous);
  const ambiguous = outcomes.filter(({ isAmbiguous }) => isAmbiguous);
  const wrong = outcomes.filter((one) => one.wanted.join() !== one.found.join());
  const small = (of: readonly Outcome[]) => of.filter(({ cluster }) => cluster.nodes.length <= 7).length;
  const { right, found, wanted } = scoresOf(certain).at(-1)!;
  return [
    table(classRows(outcomes)),
    table(kindRows(outcomes)),
    `${wrong.length} of ${outcomes.length} sets have a wrong or a missing finding, ${small(wrong)} of them in clusters of up to seven nodes. ${ambiguous.length} of these sets are ambiguous, ${small(ambiguous)} in such clusters. Without the ambiguous sets: precision ${percent(right, found)}, recall ${percent(right, wanted)}. The seeds of the ambiguous sets:\n${wrapped(ambiguous.map(({ seed }) => `${seed}`))}`,
  ].join('\n\n');
}

function classRows(outcomes: readonly Outcome[]): string[][] {
  const names = Object.keys(outcomes[0]?.baselines ?? {});
  const methods = [
    own,
    ...names.map(
      (name): Found =>
        (outcome) =>
          outcome.baselines[name] ?? [],
    ),
  ];
  const scores = methods.map((method) => scoresOf(outcomes, method));
  const both = ({ right, found, wanted }: Score): string => `${percent(right, found)} / ${percent(right, wanted)}`;
  const rows = scores[0]!.flatMap(({ name, wanted }, n) =>
    wanted === 0 ? [] : [[name, `${wanted}`, ...scores.map((all) => both(all[n]!))]],
  );
  return [['Class', 'Faults', 'The check', ...names], ...rows];
}

function kindRows(outcomes: readonly Outcome[]): string[][] {
  const all = outcomes.flatMap(({ faults }) => faults);
  const names = [...new Set(all.map(({ name }) => name))].sort();
  const row = (name: string, of: typeof all) => [
    name,
    `${of.length}`,
    percent(of.filter((one) => one.isFound).length, of.length),
  ];
  const rows = names.map((name) =>
    row(
      name,
      all.filter((one) => one.name === name),
    ),
  );
  return [
    ['Simulated fault', 'Number', 'Recall'],
    ...rows,
    row(
      'of one address family',
      all.filter((one) => one.isOfOneFamily),
    ),
  ];
}

/** Returns the rows as a table of Markdown, the first as its head. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, n) => Math.max(...rows.map((row) => row[n]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!))).join(' | ')} |`;
  const [head = [], ...rest] = rows;
  const rule = `| ${widths.map((width, n) => (n === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rest.map(line)].join('\n');
}

function wrapped(words: readonly string[]): string {
  const lines: string[] = [];
  for (let n = 0; n < words.length; n += 15) lines.push(words.slice(n, n + 15).join(', '));
  return `${lines.join(',\n')}.`;
}
