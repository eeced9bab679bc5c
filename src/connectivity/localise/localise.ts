import type { Evidence, Finding } from '../../api/connectivitycheck/finding.ts';
import type { Plane } from '../../api/connectivitycheck/terms.ts';
import { agentsByPlace, pairsOf, type Pair } from './pairs/pair.ts';
import type { ClusterView } from './view.ts';

/** What is wrong in a cluster, and how many pairs of nodes show it. */
export interface Localisation {
  /** Failed ones first, then by class and subjects. Each class and subjects occur once. */
  readonly findings: readonly Finding[];
  /** Ordered pairs of nodes and planes in the last reports. */
  readonly observedPairs: number;
  /** Those that failed, lost packets, or lose large packets. */
  readonly affectedPairs: number;
}

/** Finds the faults that explain what the agents measured. Pure; never throws on data that passed validation. */
export function localise(view: ClusterView): Localisation {
  const pairs = pairsOf(view, agentsByPlace(view));
  const affected = pairs.filter(({ quality }) => quality !== 'Ok');
  return { findings: nodeFindings(pairs), observedPairs: pairs.length, affectedPairs: affected.length };
}

function nodeFindings(pairs: readonly Pair[]): Finding[] {
  const nodes = new Set(pairs.flatMap(({ from, to }) => [from, to]));
  return [...nodes]
    .sort()
    .flatMap((node) => (['Pod', 'Host'] as const).flatMap((plane) => planeFinding(pairs, node, plane)));
}

function planeFinding(pairs: readonly Pair[], node: string, plane: Plane): Finding[] {
  const own = pairs.filter((pair) => pair.plane === plane && (pair.from === node || pair.to === node));
  const failed = own.filter(({ quality }) => quality === 'Failed');
  if (failed.length === 0 || failed.length < own.length || own.length < 2) return [];
  const evidence: Evidence = { affectedPairs: failed.length, observedPairs: own.length, pairs: [] };
  const message = `${plane === 'Pod' ? 'pod' : 'host'} network of ${node}: ${failed.length} of ${own.length} pairs fail`;
  return [{ class: `${plane}Network`, subjects: [node], severity: 'Failed', message, evidence }];
}
