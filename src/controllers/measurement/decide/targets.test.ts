import type { V1ConfigMap } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { targetsComponent } from '../components/components.ts';
import { targetsFile } from '../names.ts';
import { defaultMeasurementOptions } from '../options.ts';
import {
  CHANGE_INTERVAL_MS,
  planTargets,
  REPAIR_INTERVAL_MS,
  type TargetsData,
  type TargetsObservation,
  type TargetsPlan,
} from './targets.ts';

const OPTIONS = defaultMeasurementOptions('op');
const NOW = 1_000_000;
const FOREIGN: V1ConfigMap = { metadata: { name: 'prometheus-targets' }, data: { other: '' } };

/** The ConfigMap after `content` was applied. */
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
    why: 'another process wrote the same before: apply at once, which only compares',
    observed: { live: [applied(0, 'a'), undefined] },
    plan: { apply: [0] },
  },
  {
    why: 'a change long after the last write is written at once',
    observed: {
      live: [applied(0, 'old'), undefined],
      lastWrite: { data: [files('old')], at: NOW - CHANGE_INTERVAL_MS },
    },
    plan: { apply: [0] },
  },
  {
    why: 'a change right after another waits',
    observed: { live: [applied(0, 'old'), undefined], lastWrite: { data: [files('old')], at: NOW - 3_000 } },
    plan: { apply: [], waitMs: CHANGE_INTERVAL_MS - 3_000 },
  },
  {
    why: 'a deleted ConfigMap is repaired without the wait of a change',
    observed: { live: [undefined, undefined], lastWrite: { data: [files('a')], at: NOW - REPAIR_INTERVAL_MS } },
    plan: { apply: [0] },
  },
  {
    why: 'a ConfigMap that somebody keeps changing is repaired at most once a second',
    observed: { live: [applied(0, 'x'), undefined], lastWrite: { data: [files('a')], at: NOW - 400 } },
    plan: { apply: [], waitMs: REPAIR_INTERVAL_MS - 400 },
  },
  {
    why: 'unchanged data is applied at any time, because labels may differ',
    observed: { live: [applied(0, 'a'), undefined], lastWrite: { data: [files('a')], at: NOW } },
    plan: { apply: [0] },
  },
  {
    why: 'a change of another file in the ConfigMap is a change',
    observed: {
      data: [{ ...files('a'), other: 'new' }],
      live: [applied(0, 'a'), undefined],
      lastWrite: { data: [files('a')], at: NOW - 3_000 },
    },
    plan: { apply: [], waitMs: CHANGE_INTERVAL_MS - 3_000 },
  },
  {
    why: 'more nodes than one ConfigMap holds need another ConfigMap',
    observed: { data: [files('a'), files('b', 1)], live: [applied(0, 'a'), undefined] },
    plan: { apply: [0, 1] },
  },
  {
    why: 'a ConfigMap that is no longer needed is removed, or its nodes would be scraped twice',
    observed: { live: [applied(0, 'a'), applied(1, 'b')] },
    plan: { apply: [0], remove: [1] },
  },
  {
    why: 'a ConfigMap of another owner is not touched, and causes no wait',
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
