import { expect, it } from 'vitest';
import type { TrafficWeight, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';
import { divide } from './divide.ts';

const INGRESS: Candidate = {
  source: sourceOfIngress({
    metadata: { name: 'web', namespace: 'shop' },
    spec: { rules: [{ host: 'a.example.org' }] },
  }),
  classNames: ['nginx'],
  isKnown: true,
  isBeyond: false,
  namespaceLabels: undefined,
};
const NONE = { ingressClassNames: ['none'] };
const UNDECIDED = { namespaceSelector: { matchLabels: { team: 'a' } } };

function weight(name: string, over: Partial<TrafficWeightSpec> = {}, day = 1): TrafficWeight {
  return {
    metadata: { name, creationTimestamp: new Date(Date.UTC(2026, 0, day)) },
    spec: { clusterName: 'cluster-a', backend: { static: { weight: 1 } }, ...over },
  };
}

interface Case {
  readonly what: string;
  readonly main?: TrafficWeight;
  readonly others?: readonly TrafficWeight[];
  /** The TrafficWeight that the DNSEndpoint is of. */
  readonly label?: string;
  readonly wanted: 'own' | 'named' | 'left' | 'removable' | 'kept';
  /** Whether a rival has its hosts. */
  readonly isRival?: boolean;
}

/** The decision of `main` about the Ingress. */
const CASES: readonly Case[] = [
  { what: 'of one', wanted: 'own' },
  { what: 'of none', main: weight('main', NONE), label: 'main', wanted: 'removable' },
  { what: 'of the older of two', main: weight('main', {}, 2), others: [weight('b')], wanted: 'named', isRival: true },
  { what: 'of the first by name, of the same age', others: [weight('other')], wanted: 'own' },
  {
    what: 'that stays with the younger one, which has the DNSEndpoint',
    ...{ main: weight('main', {}, 2), others: [weight('other')], label: 'main', wanted: 'own' },
  },
  {
    what: 'that goes to another TrafficWeight',
    ...{ main: weight('main', NONE), others: [weight('other')], label: 'main', wanted: 'left', isRival: true },
  },
  {
    what: 'that comes from another TrafficWeight',
    ...{ main: weight('main', {}, 2), others: [weight('other', NONE)], label: 'other', wanted: 'own' },
  },
  { what: 'that comes from one that is gone', label: 'gone', wanted: 'own' },
  {
    what: 'of another TrafficWeight, which cannot decide yet',
    ...{ others: [weight('other', UNDECIDED)], label: 'other', wanted: 'named', isRival: true },
  },
  {
    what: 'that another TrafficWeight may select',
    ...{ main: weight('main', NONE), others: [weight('other', UNDECIDED)], label: 'main', wanted: 'kept' },
  },
  {
    what: 'of this one, which cannot decide yet',
    ...{ main: weight('main', UNDECIDED), label: 'main', wanted: 'kept' },
  },
  {
    what: 'of an invalid one',
    ...{ others: [weight('other', { bindingDomain: '-' })], label: 'other', wanted: 'named', isRival: true },
  },
  {
    what: 'of one with another set identifier',
    ...{ main: weight('main', NONE), others: [weight('other', { clusterName: 'cluster-b' })], label: 'other' },
    wanted: 'left',
  },
];

it.each(CASES)(
  'an Ingress $what is $wanted',
  ({ main = weight('main'), others = [], label, wanted, isRival = false }) => {
    const division = divide(main, { weights: [main, ...others], candidates: [INGRESS] }, () => label);
    const other = division.otherOwnerOf(INGRESS.source);
    const [isSelected, isUnselected, isUndecided] = [division.selected, division.unselected, division.undecided].map(
      (list) => list.length === 1,
    );
    const done = {
      own: isSelected === true && other === undefined,
      named: isSelected === true && other !== undefined,
      left: isSelected === false && other !== undefined,
      removable: isUnselected === true,
      kept: isUndecided === true,
    };
    expect(Object.entries(done).flatMap(([what, is]) => (is ? what : []))).toEqual([wanted]);
    expect(division.rivals.length).toBe(isRival ? 1 : 0);
  },
);
