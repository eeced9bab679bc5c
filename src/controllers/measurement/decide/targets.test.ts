import type { V1ConfigMap } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { targetsComponent } from '../components/targets.ts';
import { targetsFile } from '../names.ts';
import { defaultMeasurementOptions } from '../options.ts';
import { CHANGE_INTERVAL_MS, planTargets, REPAIR_INTERVAL_MS } from './targets.ts';
import type { TargetsData, TargetsObservation, TargetsPlan } from './targets.ts';

const OPTIONS = defaultMeasurementOptions('op');
const NOW = 1_000_000;
const FOREIGN: V1ConfigMap = { metadata: { name: 'prometheus-targets' }, data: { other: '' } };

/** The ConfigMap as it is after `content` was applied. */
function applied(index: number, content: string): V1ConfigMap {
  return targetsComponent(OPTIONS, index, files(content, index)).object;
}

/** One ConfigMap's data. */
function files(content: string, index = 0): TargetsData {
  return { [targetsFile(index)]: content };
}

interface Row {
  why: string;
  observed: Partial<TargetsObservation>;
  plan: Partial<TargetsPlan>;
}

const rows: Row[] = [
  { why: 'the first targets are written at once', observed: { live: [undefined, undefined] }, plan: { apply: [0] } },
  {
    why: 'another process wrote the same before: it is compared, and nothing is in the way',
    observed: { live: [applied(0, 'a'), undefined] },
    plan: { apply: [0] },
  },
  {
    why: 'a change after a quiet time is written at once',
    observed: {
      live: [applied(0, 'old'), undefined],
      lastWrite: { data: [files('old')], at: NOW - CHANGE_INTERVAL_MS },
    },
    plan: { apply: [0] },
  },
  {
    why: 'a change right after another waits for what else comes',
    observed: { live: [applied(0, 'old'), undefined], lastWrite: { data: [files('old')], at: NOW - 3_000 } },
    plan: { apply: [], waitMs: CHANGE_INTERVAL_MS - 3_000 },
  },
  {
    why: 'a ConfigMap that was deleted is no change, and is not waited with',
    observed: { live: [undefined, undefined], lastWrite: { data: [files('a')], at: NOW - REPAIR_INTERVAL_MS } },
    plan: { apply: [0] },
  },
  {
    why: 'a ConfigMap that somebody keeps changing is put right once a second, no more',
    observed: { live: [applied(0, 'x'), undefined], lastWrite: { data: [files('a')], at: NOW - 400 } },
    plan: { apply: [], waitMs: REPAIR_INTERVAL_MS - 400 },
  },
  {
    why: 'what is as it should be is compared at any time, since its labels may not be',
    observed: { live: [applied(0, 'a'), undefined], lastWrite: { data: [files('a')], at: NOW } },
    plan: { apply: [0] },
  },
  {
    why: 'a change of a file beside the targets is a change',
    observed: {
      data: [{ ...files('a'), other: 'new' }],
      live: [applied(0, 'a'), undefined],
      lastWrite: { data: [files('a')], at: NOW - 3_000 },
    },
    plan: { apply: [], waitMs: CHANGE_INTERVAL_MS - 3_000 },
  },
  {
    why: 'more nodes than one ConfigMap holds take another one',
    observed: { data: [files('a'), files('b', 1)], live: [applied(0, 'a'), undefined] },
    plan: { apply: [0, 1] },
  },
  {
    why: 'a ConfigMap that is no longer needed goes, or its nodes would be scraped twice',
    observed: { live: [applied(0, 'a'), applied(1, 'b')] },
    plan: { apply: [0], remove: [1] },
  },
  {
    why: 'a ConfigMap of somebody else is left alone, and never waited for',
    observed: { live: [FOREIGN, undefined], lastWrite: { data: [files('old')], at: NOW } },
    plan: { apply: [], foreign: [0] },
  },
];

describe('planTargets', () => {
  it.each(rows)('$why', ({ observed, plan }) => {
    const usual = { data: [files('a')], live: [], lastWrite: undefined, now: NOW };
    expect(planTargets({ ...usual, ...observed })).toEqual({ apply: [], remove: [], foreign: [], waitMs: 0, ...plan });
  });
});
